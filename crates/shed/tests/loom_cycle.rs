//! Looking for cycles while dependencies come and go.
#![cfg(loom)]

mod loom_common;

use loom::thread;
use loom_common::*;

/// Dependencies are added while another thread looks for cycles. It finds the tasks that they
/// name, not the one that an unwritten dependency names: that would be a cycle. Two are added, as
/// it looks twice.
#[test]
fn a_dependency_is_whole_for_who_looks_for_cycles() {
    model(3, || {
        let shed = shed(5, 4);
        // In the first slot: an unwritten dependency names it.
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
