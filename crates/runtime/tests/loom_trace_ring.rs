//! Model: a copy of a worker's trace holds whole events, in order, while the worker writes.

#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_runtime::models::trace_ring::Ring;
use sateen_testkit::model;

fn event(number: u64) -> [u64; 4] {
    [number + 1, number + 11, number + 101, number + 1001]
}

/// The writer goes round `capacity` once and more.
fn events_are_whole(capacity: usize, events: u64) {
    model(3, move || {
        let ring = Arc::new(Ring::new(capacity));
        let writer = Arc::clone(&ring);
        let worker = thread::spawn(move || (0..events).for_each(|n| writer.write(event(n))));
        let copied = ring.copy(0);
        for (number, found) in (copied.first..).zip(&copied.events) {
            assert_eq!(*found, event(number));
        }
        assert!(copied.events.len() <= capacity);
        worker.join().expect("the writer ends");
        // All but the one that the next event would overwrite.
        let left = ring.copy(0);
        assert_eq!(left.first + left.events.len() as u64, events);
        assert_eq!(left.events.len(), capacity - 1);
    });
}

#[test]
fn a_copy_of_two_is_whole() {
    events_are_whole(2, 3);
}

#[test]
fn a_copy_of_four_is_whole() {
    events_are_whole(4, 5);
}
