//! Searches for cycles while dependencies are added and removed.
#![cfg(loom)]

mod loom_common;

use loom::thread;
use loom_common::*;
use sateen_testkit::model;

/// Dependencies are added while another thread looks for cycles. That thread finds the tasks that
/// they name, and not the task that an unwritten dependency names, which would be a cycle. Two
/// dependencies are added, because it looks twice.
#[test]
fn a_dependency_is_whole_for_who_looks_for_cycles() {
    model(3, || {
        let shed = shed(5, 4);
        // This task is in the first slot, which an unwritten dependency names.
        let [decoy, predecessor, far, first, second] = shed.create([(); 5]).expect("room");
        shed.depend(&[decoy], &[far]).expect("idle");
        shed.depend(&[predecessor], &[decoy]).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.depend(&[first], &[predecessor]).expect("idle");
                shed.depend(&[second], &[predecessor]).expect("idle");
            })
        };
        assert_eq!(shed.find_cycle(), None);
        other.join().unwrap();
    });
}
