//! Capacities at the ends of their range. An impossible capacity is a panic that names the number,
//! and does not end the process.
#![cfg(not(loom))]

use sateen_queue::mpmc::{Bounded, Unbounded};
use sateen_queue::{ArrayQueue, channel, spsc};
use sateen_testkit::in_child;
use std::panic::catch_unwind;

/// `make` works, or panics with a message that contains `capacity`.
#[track_caller]
fn works_or_says_so<Q>(capacity: usize, make: fn(usize) -> Q) {
    if let Err(panic) = catch_unwind(|| drop(make(capacity))) {
        let text = panic.downcast_ref::<String>().expect("a text with a number");
        assert!(text.contains(&capacity.to_string()), "{text}");
    }
}

/// `make` panics with a message that contains `capacity`.
#[track_caller]
fn says_so<Q>(capacity: usize, make: fn(usize) -> Q) {
    assert!(catch_unwind(|| drop(make(capacity))).is_err(), "{capacity}");
    works_or_says_so(capacity, make);
}

#[test]
#[cfg_attr(miri, ignore = "Miri ends where memory does")]
fn more_than_memory_holds() {
    if in_child("more_than_memory_holds") {
        let large = usize::try_from(1_u64 << 48).unwrap_or(1 << 31);
        for capacity in [large, large + 1, usize::MAX / 2 + 1, usize::MAX] {
            says_so(capacity, Bounded::<()>::new);
            says_so(capacity, Bounded::<[u8; 100]>::new);
            says_so(capacity, ArrayQueue::<u64>::new);
            says_so(capacity, channel::bounded::<()>);
            says_so(capacity, channel::bounded::<u64>);
            says_so(capacity, spsc::bounded::<u64>);
            works_or_says_so(capacity, spsc::bounded::<()>);
        }
        works_or_says_so(large >> 8, channel::bounded::<u8>);
    }
}

/// Unused memory is not touched.
#[test]
fn much_that_is_not_used() {
    if in_child("much_that_is_not_used") {
        // More than the memory of most machines, or a quarter of what 32 bits can address.
        let bytes = usize::try_from(1_u64 << 33).unwrap_or(1 << 30);
        works_or_says_so(bytes, Bounded::<()>::new);
        works_or_says_so(bytes, channel::bounded::<()>);
        works_or_says_so(bytes, spsc::bounded::<()>);
        works_or_says_so(bytes / 4, spsc::bounded::<u32>);
    }
}

#[test]
fn one() {
    let queue = Bounded::new(1);
    assert!(queue.push(1).is_ok() && queue.push(2).is_err());
    assert_eq!((queue.pop(), queue.pop().is_err()), (Ok(1), true));
    let (mut producer, mut consumer) = spsc::bounded(1);
    assert!(producer.push(1).is_ok() && producer.push(2).is_err());
    assert_eq!((consumer.pop(), consumer.pop().is_err()), (Ok(1), true));
}

#[test]
fn none() {
    assert!(catch_unwind(|| Bounded::<u8>::new(0)).is_err());
    assert!(catch_unwind(|| ArrayQueue::<u8>::new(0)).is_err());
    assert!(catch_unwind(|| spsc::bounded::<u8>(0)).is_err());
    assert!(catch_unwind(|| Unbounded::from_iter([1]).pop_batch(0).is_some()).is_err());
    assert_eq!(channel::bounded::<u8>(0).0.capacity(), Some(0));
}

/// A maximum is a limit, not a request for memory.
#[test]
fn batches_of_any_size() {
    for most in [1, 5, 1000, usize::MAX] {
        let there = most.min(5);
        let full = || vec![(); 5].into_iter();

        let queue = Bounded::new(5);
        assert_eq!(queue.push_from(&mut full()), Ok(5));
        assert_eq!(queue.pop_into(&mut vec![(); 3], most), Ok(there));

        let queue = Unbounded::from_iter(full());
        assert_eq!(queue.pop_into(&mut vec![(); 3], most), Ok(there));
        let queue = Unbounded::from_iter(full());
        assert_eq!(queue.pop_batch(most).expect("not empty").count(), most.min(3));

        let (mut producer, mut consumer) = spsc::bounded(5);
        assert_eq!(producer.push_from(&mut full()), Ok(5));
        assert_eq!(consumer.pop_into(&mut vec![(); 3], most), Ok(there));

        let (sender, receiver) = channel::unbounded();
        assert_eq!(sender.send_all(full()).ok(), Some(5));
        assert_eq!(receiver.try_recv_into(&mut vec![(); 3], most), Ok(there));
    }
}

/// Size hints of iterators also hold where they overflow.
#[test]
fn more_unsent_than_can_be_counted() {
    let (sender, receiver) = channel::bounded(0);
    drop(receiver);
    let unsent = sender.send_all(vec![(); usize::MAX]).expect_err("nobody receives");
    let mut unsent = unsent.into_inner();
    assert_eq!(unsent.size_hint(), (usize::MAX, Some(usize::MAX)));
    assert_eq!(unsent.next(), Some(()));
    assert_eq!(unsent.size_hint(), (usize::MAX - 1, Some(usize::MAX - 1)));
}
