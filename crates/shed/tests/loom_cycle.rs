//! Looking for cycles while dependencies come and go.
#![cfg(loom)]

mod loom_common;

use loom::thread;
use loom_common::*;

/// Dependencies are added while somebody looks, which finds the tasks that they name, not the one
/// that a dependency names in which nobody has written: that would be a cycle. Two, as it looks
/// twice.
#[test]
fn a_dependency_is_whole_for_who_looks_for_cycles() {
    model(3, || {
        let shed = shed(5, 4);
        // The first place: what a dependency names that nobody has written to.
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
