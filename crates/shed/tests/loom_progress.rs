//! The counts of a channel, while its tasks go on.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::thread;
use loom_common::*;
use sateen_testkit::model;

#[test]
fn what_has_run_was_ready() {
    model(3, || {
        let shed = Arc::new(builder(1, 0).progress(true).build().expect("small"));
        let tasks = shed.create([()]).expect("room");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.ready(&tasks).expect("idle");
                one(&shed);
            })
        };
        let progress = shed.progress(0).expect("channel 0").expect("counted");
        assert!(progress.readied >= progress.completed);
        other.join().unwrap();
    });
}
