//! The unbounded queue beside a sequential twin, under stress, and at its edges.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_queue::mpmc::Unbounded;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Positions have 63 bits. These starts soon cross a segment's end and the wrap-around.
const STARTS: &[u64] =
    if cfg!(miri) { &[61] } else { &[0, 61, 126, (1 << 63) - 66, (1 << 63) - 2] };

/// Random operations on the queue and on a `VecDeque`; every answer must agree.
fn beside_a_twin<T>(start: u64, seed: u64, make: impl Fn(u64) -> T, key: impl Fn(T) -> u64) {
    let mut rng = XorShift::new(seed);
    let queue = Unbounded::starting_at(start);
    let mut twin = VecDeque::new();
    let mut next = 0;
    for round in 0..if cfg!(miri) { 40 } else { 4_000 } {
        // Phases that fill and phases that drain.
        let filling = round / 300 % 2 == 0;
        match rng.below(10) {
            0..=2 => {
                assert_eq!(queue.pop().ok().map(&key), twin.pop_front());
            }
            3 if !filling => {
                let max = 1 + rng.below(70);
                let take = rng.below(70);
                match queue.pop_batch(max) {
                    None => assert!(twin.is_empty()),
                    Some(batch) => {
                        let len = batch.len();
                        assert!(len <= max && len <= twin.len() && len > 0);
                        let taken: Vec<_> = batch.take(take).map(&key).collect();
                        let expected: Vec<_> = twin.drain(..len).take(take).collect();
                        assert_eq!(taken, expected);
                    }
                }
            }
            _ if filling || round % 3 == 0 => {
                queue.push(make(next)).unwrap();
                twin.push_back(next);
                next += 1;
            }
            _ => assert_eq!(queue.pop().ok().map(&key), twin.pop_front()),
        }
        assert_eq!((queue.len(), queue.is_empty()), (twin.len(), twin.is_empty()));
    }
}

#[test]
fn agrees_with_a_vecdeque() {
    for &start in STARTS {
        for seed in 0..if cfg!(miri) { 1 } else { 4 } {
            beside_a_twin(start, seed, |i| i, |i| i);
            beside_a_twin(start, seed, Box::new, |b| *b);
        }
    }
}

#[test]
fn large_items_have_small_segments() {
    for start in [0, 1, (1 << 63) - 4] {
        beside_a_twin(start, 9, |i| [i; 40], |a| a[39]);
        beside_a_twin(start, 9, |i| [i; 400], |a| a[399]);
    }
}

#[test]
fn zero_sized_items() {
    let queue = Unbounded::new();
    const MANY: usize = if cfg!(miri) { 130 } else { 1_000 };
    for _ in 0..MANY {
        queue.push(()).unwrap();
    }
    assert_eq!(queue.len(), MANY);
    let mut taken = 0;
    while queue.pop().is_ok() {
        taken += 1;
    }
    assert_eq!(taken, MANY);
}

#[test]
fn an_item_larger_than_a_stack_frame_should_be() {
    let queue = Unbounded::new();
    queue.push([7u8; 32_768]).unwrap();
    assert_eq!(queue.pop().map(|a| a[32_767]), Ok(7));
}

/// Counts drops, and panics in one of them if told to.
struct Noted(Arc<AtomicUsize>, bool);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        assert!(!self.1, "told to");
    }
}

#[test]
fn dropping_the_queue_drops_what_is_left() {
    for &left in if cfg!(miri) { &[0, 60][..] } else { &[0, 1, 62, 63, 64, 200] } {
        let drops = Arc::new(AtomicUsize::new(0));
        let queue = Unbounded::from_iter((0..left + 5).map(|_| Noted(drops.clone(), false)));
        (0..5).for_each(|_| drop(queue.pop()));
        assert_eq!(drops.load(Ordering::Relaxed), 5);
        drop(queue);
        assert_eq!(drops.load(Ordering::Relaxed), left + 5);
        assert_eq!(Arc::strong_count(&drops), 1);
    }
}

#[test]
fn a_panic_in_a_drop_loses_nothing_else() {
    sateen_testkit::print_no_panics_under_miri();
    for whole in [true, false] {
        let drops = Arc::new(AtomicUsize::new(0));
        let queue = Unbounded::from_iter((0..150).map(|i| Noted(drops.clone(), i == 20)));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            if whole {
                drop(queue);
            } else {
                drop(queue.pop_batch(usize::MAX));
                unreachable!("the batch holds item 20");
            }
        }));
        assert!(caught.is_err());
        assert_eq!(drops.load(Ordering::Relaxed), 150);
    }
}

/// Every item comes out exactly once, in each producer's order.
fn conserve(producers: usize, consumers: usize, batches: bool) {
    const EACH: usize = if cfg!(miri) { 10 } else { 8_000 };
    let queue = Unbounded::new();
    let left = AtomicUsize::new(producers * EACH);
    let take = || {
        let mut mine: Vec<(usize, usize)> = Vec::new();
        while left.load(Ordering::Relaxed) > 0 {
            let before = mine.len();
            if batches && before.is_multiple_of(2) {
                mine.extend(queue.pop_batch(20).into_iter().flatten().map(|b: Box<_>| *b));
            } else {
                mine.extend(queue.pop().map(|b| *b).ok());
            }
            if mine.len() == before {
                std::thread::yield_now();
            }
            left.fetch_sub(mine.len() - before, Ordering::Relaxed);
        }
        mine
    };
    let got: Vec<Vec<(usize, usize)>> = std::thread::scope(|s| {
        let takers: Vec<_> = (0..consumers).map(|_| s.spawn(take)).collect();
        for producer in 0..producers {
            let queue = &queue;
            s.spawn(move || (0..EACH).for_each(|i| queue.push(Box::new((producer, i))).unwrap()));
        }
        takers.into_iter().map(|t| t.join().expect("a taker panicked")).collect()
    });
    let mut seen = vec![vec![false; EACH]; producers];
    for mine in got {
        let mut last = vec![None; producers];
        for (producer, i) in mine {
            assert!(last[producer] < Some(i), "out of order");
            last[producer] = Some(i);
            assert!(!std::mem::replace(&mut seen[producer][i], true), "twice");
        }
    }
    assert!(seen.iter().flatten().all(|&s| s), "lost");
    assert!(queue.is_empty());
}

#[test]
fn conservation() {
    const CREWS: &[(usize, usize)] =
        if cfg!(miri) { &[(2, 2)] } else { &[(1, 1), (1, 4), (4, 1), (2, 2), (4, 4)] };
    for &(producers, consumers) in CREWS {
        conserve(producers, consumers, false);
        conserve(producers, consumers, true);
    }
}

#[test]
#[should_panic(expected = "at most 0 items")]
fn a_batch_of_none_is_a_mistake() {
    let _ = Unbounded::<u8>::new().pop_batch(0);
}

#[test]
fn may_be_sent_and_shared() {
    fn check<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    check::<Unbounded<std::cell::Cell<u8>>>();
    assert_eq!(format!("{:?}", Unbounded::<u8>::new()), "Unbounded { .. }");
}

static QUEUE: Unbounded<usize> = Unbounded::new();

/// A queue that begins as a constant. Several threads make the first push at once.
#[test]
fn a_static_queue() {
    assert!(QUEUE.is_empty() && QUEUE.pop().is_err());
    std::thread::scope(|s| (0..4).for_each(|i| drop(s.spawn(move || QUEUE.push(i).unwrap()))));
    assert_eq!(QUEUE.len(), 4);
    let mut got: Vec<_> = std::iter::from_fn(|| QUEUE.pop().ok()).collect();
    got.sort_unstable();
    assert!(got == [0, 1, 2, 3] && QUEUE.is_empty());
}

#[test]
fn a_queue_that_nobody_has_used_closes() {
    let queue = Unbounded::<u8>::new();
    assert!(queue.close() && !queue.close() && queue.is_closed());
    assert!(queue.push(1).unwrap_err().is_closed() && queue.pop().unwrap_err().is_closed());
    assert!(queue.is_empty() && queue.pop_batch(1).is_none());
}
