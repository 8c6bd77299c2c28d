//! Items whose destructors panic: all items are dropped, the caller sees one panic, and the process
//! goes on.
#![cfg(not(loom))]

use sateen_queue::channel::{Receiver, Select, Sender, bounded, unbounded};
use sateen_queue::{ArrayQueue, SegQueue, mpmc, spsc};
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

/// Drops what `make` builds from three bombs. All bombs are dropped, and the caller sees one panic.
#[track_caller]
fn goes_off<Q>(make: impl FnOnce(Vec<Bomb>) -> Q) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let queue = make((0..3).map(|_| Bomb(dropped.clone())).collect());
    let panic = catch_unwind(AssertUnwindSafe(|| drop(queue))).expect_err("a bomb goes off");
    assert_eq!(panic.downcast_ref(), Some(&"a bomb"));
    assert_eq!(dropped.load(Relaxed), 3);
    assert_eq!(Arc::strong_count(&dropped), 1);
}

/// The halves of a channel, filled with these items.
fn filled(
    halves: (Sender<Bomb>, Receiver<Bomb>),
    bombs: Vec<Bomb>,
) -> (Sender<Bomb>, Receiver<Bomb>) {
    assert!(halves.0.send_all(bombs).is_ok());
    halves
}

/// The receiver is dropped first and drops the items. The sender is dropped while that panic
/// unwinds.
#[test]
fn a_channel_whose_receiver_goes_first() {
    if in_child("a_channel_whose_receiver_goes_first") {
        for open in [|| bounded(3), unbounded] {
            goes_off(|bombs| {
                let (sender, receiver) = filled(open(), bombs);
                (receiver, sender)
            });
        }
    }
}

#[test]
fn a_channel_whose_sender_goes_first() {
    if in_child("a_channel_whose_sender_goes_first") {
        for open in [|| bounded(3), unbounded] {
            goes_off(|bombs| filled(open(), bombs));
        }
    }
}

/// An item behind a forgotten reservation is dropped with the channel.
#[test]
fn a_channel_with_a_forgotten_promise() {
    if in_child("a_channel_with_a_forgotten_promise") {
        goes_off(|bombs| {
            let (sender, receiver) = bounded(4);
            let mut sending = Select::new();
            sending.send(&sender);
            std::mem::forget(sending.select());
            let (sender, receiver) = filled((sender, receiver), bombs);
            (receiver, sender)
        });
    }
}

#[test]
fn an_unfinished_batch() {
    if in_child("an_unfinished_batch") {
        let queue = mpmc::Unbounded::new();
        goes_off(|bombs| {
            queue.push_from(&mut bombs.into_iter()).expect("it is open");
            let dropped = Arc::new(AtomicUsize::new(0));
            // Three of the six bombs.
            (0..3).for_each(|_| drop(queue.push(Bomb(dropped.clone()))));
            queue.pop_batch(3).expect("it is not empty")
        });
        let rest = catch_unwind(AssertUnwindSafe(|| drop(queue)));
        assert!(rest.is_err());
    }
}

#[test]
fn queues() {
    if in_child("queues") {
        goes_off(|bombs| {
            let queue = mpmc::Bounded::new(4);
            queue.push_from(&mut bombs.into_iter()).expect("room");
            queue
        });
        goes_off(mpmc::Unbounded::from_iter);
        goes_off(|bombs| {
            let queue = ArrayQueue::new(4);
            bombs.into_iter().for_each(|bomb| assert!(queue.push(bomb).is_ok()));
            queue.into_iter()
        });
        goes_off(|bombs| {
            let queue = SegQueue::new();
            bombs.into_iter().for_each(|bomb| queue.push(bomb));
            queue
        });
        goes_off(|bombs| {
            let (mut producer, consumer) = spsc::bounded(4);
            producer.push_from(&mut bombs.into_iter()).expect("room");
            (consumer, producer)
        });
    }
}

/// If the thread already unwinds, no second panic comes out.
#[test]
fn while_the_thread_unwinds() {
    if in_child("while_the_thread_unwinds") {
        sateen_testkit::print_no_panics_under_miri();
        for open in [|| bounded(3), unbounded] {
            let dropped = Arc::new(AtomicUsize::new(0));
            let panic = catch_unwind(AssertUnwindSafe(|| {
                let bombs = (0..3).map(|_| Bomb(dropped.clone())).collect();
                let _halves = filled(open(), bombs);
                panic!("the reason");
            }));
            assert_eq!(panic.expect_err("it panics").downcast_ref(), Some(&"the reason"));
            assert_eq!(dropped.load(Relaxed), 3);
        }
    }
}
