//! Model: a reader takes a wait whole or not at all.

#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_runtime::models::wait_record::{Wait, WaitRecord};
use sateen_sync::park::Awaited;
use sateen_testkit::model;

const KINDS: [&str; 2] = ["a", "bcd"];

fn wait(n: usize) -> Wait {
    Wait { what: Awaited::new(KINDS[n], std::ptr::without_provenance(n + 1)), since: n as u64 + 1 }
}

#[test]
fn a_wait_is_read_whole() {
    model(3, || {
        let record = Arc::new(WaitRecord::new());
        let writer = Arc::clone(&record);
        let fiber = thread::spawn(move || {
            writer.begin(&wait(0));
            writer.end();
            writer.begin(&wait(1));
        });
        if let Some(seen) = record.read() {
            let expected = wait(seen.since as usize - 1);
            assert_eq!(seen.what.kind(), expected.what.kind());
            assert_eq!(seen.what.address(), expected.what.address());
        }
        fiber.join().expect("the writer ends");
        assert_eq!(record.read().expect("the last").what.kind(), KINDS[1]);
    });
}
