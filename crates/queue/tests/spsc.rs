//! The queue for one producer and one consumer beside a sequential twin, under stress, and at its
//! edges.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_queue::spsc::{Consumer, Producer, bounded, starting_at};
use sateen_queue::{PopError, PushError};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

/// Random operations on the queue and on a `VecDeque`; every answer must agree.
fn beside_a_twin<T>(capacity: usize, make: impl Fn(usize) -> T, key: impl Fn(T) -> usize + Copy) {
    let mut rng = XorShift::new(capacity as u64);
    let (mut producer, mut consumer) = starting_at(capacity, usize::MAX - 5);
    let mut twin = VecDeque::new();
    let mut next = 0;
    for round in 0..if cfg!(miri) { 12 } else { 3_000 } {
        let pushes = if round / 50 % 2 == 0 { 7 } else { 3 };
        if rng.below(10) < pushes {
            let count = rng.below(capacity + 3);
            if count == 1 {
                let pushed = producer.push(make(next)).map_err(|full| key(full.into_inner()));
                let fits = twin.len() < capacity;
                assert_eq!(pushed, if fits { Ok(()) } else { Err(next) });
                twin.extend(fits.then_some(next));
            } else {
                let mut items = (next..next + count).map(&make);
                let fits = count.min(capacity - twin.len());
                let full = twin.len() == capacity;
                let answer = producer.push_from(&mut items);
                assert_eq!(answer, if full { Err(PushError::Full(())) } else { Ok(fits) });
                assert_eq!(items.len(), count - fits);
                twin.extend(next..next + fits);
            }
            next += count.max(1);
        } else if rng.below(2) == 0 {
            assert_eq!(consumer.pop().map(key), twin.pop_front().ok_or(PopError::Empty));
        } else {
            let (max, mut buf) = (rng.below(capacity + 3), Vec::new());
            let there = max.min(twin.len());
            let answer = consumer.pop_into(&mut buf, max);
            assert_eq!(
                answer,
                if there == 0 && max > 0 { Err(PopError::Empty) } else { Ok(there) }
            );
            assert!(buf.into_iter().map(key).eq(twin.drain(..there)));
        }
        assert_eq!((producer.len(), consumer.len()), (twin.len(), twin.len()));
        assert_eq!(producer.is_full(), twin.len() == capacity);
        assert_eq!(consumer.is_empty(), twin.is_empty());
    }
    assert!(producer.close());
    assert!(producer.push(make(0)).unwrap_err().is_closed());
    assert_eq!(producer.push_from(&mut [make(0)].into_iter()), Err(PushError::Closed(())));
    while let Some(front) = twin.pop_front() {
        assert_eq!(consumer.pop().map(key), Ok(front));
    }
    assert_eq!(consumer.pop().map(key), Err(PopError::Closed));
    assert_eq!(consumer.pop_into(&mut Vec::new(), 3), Err(PopError::Closed));
}

#[test]
fn agrees_with_a_vecdeque() {
    for capacity in [1, 2, 3, 4, 7, 8, 100] {
        beside_a_twin(capacity, |i| i, |i| i);
        beside_a_twin(capacity, Box::new, |b| *b);
        beside_a_twin(capacity, |i| [i; 20], |a| a[19]);
    }
}

#[test]
fn everything_comes_in_order() {
    let all = if cfg!(miri) { 30 } else { 100_000 };
    for (capacity, batch) in [(1, 1), (2, 1), (7, 3), (64, 16), (1024, 1), (1024, 16)] {
        let (mut producer, mut consumer) = bounded(capacity);
        thread::scope(|s| {
            s.spawn(move || {
                let mut items = (0..all).map(Box::new);
                while items.len() > 0 {
                    if producer.push_from(&mut items.by_ref().take(batch)).is_err() {
                        thread::yield_now();
                    }
                }
            });
            let (mut got, mut next) = (Vec::new(), 0);
            loop {
                match consumer.pop_into(&mut got, batch) {
                    Ok(_) => got.drain(..).for_each(|item| {
                        assert_eq!(*item, next);
                        next += 1;
                    }),
                    Err(PopError::Closed) => break,
                    Err(_) => thread::yield_now(),
                }
            }
            assert_eq!(next, all);
        });
    }
}

#[test]
fn dropping_the_halves_drops_what_is_left() {
    for producer_first in [true, false] {
        let item = Arc::new(());
        let (mut producer, mut consumer) = bounded(5);
        producer.push_from(&mut std::iter::repeat_n(item.clone(), 4)).unwrap();
        drop(consumer.pop());
        assert_eq!(Arc::strong_count(&item), 4);
        if producer_first {
            drop(producer);
            drop(consumer);
        } else {
            drop(consumer);
            drop(producer);
        }
        assert_eq!(Arc::strong_count(&item), 1);
    }
}

#[test]
fn an_iterator_that_panics_has_put_in_what_it_gave() {
    let (mut producer, mut consumer) = bounded(8);
    let mut items = (0..5).inspect(|i| assert!(*i < 3, "told to"));
    assert!(catch_unwind(AssertUnwindSafe(|| producer.push_from(&mut items))).is_err());
    assert_eq!([(); 4].map(|()| consumer.pop().ok()), [Some(0), Some(1), Some(2), None]);
}

#[test]
fn zero_sized_items() {
    let (mut producer, mut consumer) = bounded(100);
    assert_eq!(producer.push_from(&mut std::iter::repeat(())), Ok(100));
    assert_eq!(consumer.pop_into(&mut Vec::new(), 60), Ok(60));
    assert_eq!((0..50).filter(|_| consumer.pop().is_ok()).count(), 40);
}

#[test]
#[should_panic(expected = "capacity must be non-zero")]
fn no_room_at_all_is_a_mistake() {
    let _ = bounded::<u8>(0);
}

#[test]
fn halves_may_be_sent() {
    fn check<T: Send + std::panic::UnwindSafe>() {}
    check::<Producer<std::cell::Cell<u8>>>();
    check::<Consumer<std::cell::Cell<u8>>>();
}
