//! Items whose destructors panic: all items are dropped, the caller sees one panic, and the process
//! goes on.
#![cfg(not(loom))]

use sateen_deque::{Injector, Worker};
use sateen_testkit::in_child;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts its drops, each of which panics.
struct Bomb(Arc<AtomicUsize>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
        panic!("a bomb");
    }
}

#[track_caller]
fn goes_off<Q>(make: impl FnOnce(Vec<Bomb>) -> Q) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let deque = make((0..3).map(|_| Bomb(dropped.clone())).collect());
    let panic = catch_unwind(AssertUnwindSafe(|| drop(deque))).expect_err("a bomb goes off");
    assert_eq!(panic.downcast_ref(), Some(&"a bomb"));
    assert_eq!(dropped.load(Relaxed), 3);
}

#[test]
fn deques() {
    if in_child("deques") {
        goes_off(Worker::from_iter);
        goes_off(|bombs| {
            let worker = Worker::new_fifo();
            bombs.into_iter().for_each(|bomb| worker.push(bomb));
            (worker.stealer(), worker)
        });
        goes_off(Injector::from_iter);
    }
}
