//! The bounded queue beside a sequential twin, under stress, and at its edges.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_queue::mpmc::Bounded;
use sateen_queue::{PopError, PushError};
use sateen_testkit::sized;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Laps have 14 to 63 bits. From these starts they soon cross the end of a byte and of the word.
const LAPS: &[u64] = if cfg!(miri) { &[126] } else { &[0, 126, 255, u64::MAX - 1] };
const CAPACITIES: &[usize] = if cfg!(miri) { &[1, 3, 4] } else { &[1, 2, 3, 4, 5, 7, 8, 100] };

/// Random operations on the queue and on a `VecDeque`; every answer must agree.
fn beside_a_twin<T>(
    capacity: usize,
    lap: u64,
    make: impl Fn(u64) -> T,
    key: impl Fn(T) -> u64 + Copy,
) {
    let mut rng = XorShift::new(lap ^ capacity as u64);
    let queue = Bounded::starting_at(capacity, lap);
    let mut twin = VecDeque::new();
    let mut next = 0;
    for round in 0..if cfg!(miri) { 30 } else { 3_000 } {
        // Phases that fill and phases that drain.
        let pushes = if round / 50 % 2 == 0 { 7 } else { 3 };
        if rng.below(10) < pushes {
            match rng.below(3) {
                0 => {
                    let expected =
                        if twin.len() < capacity { Ok(()) } else { Err(PushError::Full(next)) };
                    let answer = queue.push(make(next)).map_err(|e| match e {
                        PushError::Full(item) => PushError::Full(key(item)),
                        _ => unreachable!("nobody closed it"),
                    });
                    assert_eq!(answer, expected);
                    if answer.is_ok() {
                        twin.push_back(next);
                    }
                    next += 1;
                }
                1 => {
                    let expected = if twin.len() < capacity { None } else { twin.pop_front() };
                    assert_eq!(queue.force_push(make(next)).unwrap().map(key), expected);
                    twin.push_back(next);
                    next += 1;
                }
                _ => {
                    let count = rng.below(capacity + 3);
                    let mut items =
                        (0..count as u64).map(|i| make(next + i)).collect::<Vec<_>>().into_iter();
                    let fits = count.min(capacity - twin.len());
                    let answer = queue.push_from(&mut items);
                    if fits == 0 && count > 0 {
                        assert_eq!(answer, Err(PushError::Full(())));
                    } else {
                        assert_eq!(answer, Ok(fits));
                    }
                    assert_eq!(items.len(), count - fits);
                    twin.extend(next..next + fits as u64);
                    next += count as u64;
                }
            }
        } else if rng.below(2) == 0 {
            assert_eq!(queue.pop().map(key), twin.pop_front().ok_or(PopError::Empty));
        } else {
            let max = rng.below(capacity + 3);
            let mut buf = Vec::new();
            let there = max.min(twin.len());
            let answer = queue.pop_into(&mut buf, max);
            if there == 0 && max > 0 {
                assert_eq!(answer, Err(PopError::Empty));
            } else {
                assert_eq!(answer, Ok(there));
            }
            assert!(buf.into_iter().map(key).eq(twin.drain(..there)));
        }
        assert_eq!((queue.len(), queue.is_empty()), (twin.len(), twin.is_empty()));
        assert_eq!(queue.is_full(), twin.len() == capacity);
    }
    queue.close();
    assert!(queue.push(make(0)).unwrap_err().is_closed());
    assert!(queue.force_push(make(0)).err().unwrap().is_closed());
    assert_eq!(queue.push_from(&mut [make(0)].into_iter()), Err(PushError::Closed(())));
    while let Some(front) = twin.pop_front() {
        assert_eq!(queue.pop().map(key), Ok(front));
    }
    assert_eq!(queue.pop().map(key), Err(PopError::Closed));
    assert_eq!(queue.pop_into(&mut Vec::new(), 9), Err(PopError::Closed));
}

#[test]
fn agrees_with_a_vecdeque() {
    for &lap in LAPS {
        for &capacity in CAPACITIES {
            beside_a_twin(capacity, lap, |i| i, |i| i);
            beside_a_twin(capacity, lap, Box::new, |b| *b);
            beside_a_twin(capacity, lap, |i| [i; 20], |a| a[19]);
        }
    }
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
    for (capacity, left) in [(1, 0), (1, 1), (7, 3), (7, 7)] {
        let drops = Arc::new(AtomicUsize::new(0));
        let queue = Bounded::new(capacity);
        for _ in 0..5 {
            queue.push(Noted(drops.clone(), false)).unwrap();
            drop(queue.pop());
        }
        let mut items =
            (0..left).map(|_| Noted(drops.clone(), false)).collect::<Vec<_>>().into_iter();
        assert_eq!(queue.push_from(&mut items), Ok(left));
        drop(queue);
        assert_eq!(drops.load(Ordering::Relaxed), 5 + left);
    }
}

#[test]
fn a_panic_in_a_drop_loses_nothing_else() {
    let drops = Arc::new(AtomicUsize::new(0));
    let queue = Bounded::new(10);
    (0..10).for_each(|i| queue.push(Noted(drops.clone(), i == 3)).unwrap());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(queue))).is_err());
    assert_eq!(drops.load(Ordering::Relaxed), 10);
}

#[test]
fn zero_sized_items() {
    let queue = Bounded::new(100);
    assert_eq!(queue.push_from(&mut [(); 150].into_iter()), Ok(100));
    assert_eq!((queue.len(), queue.pop_into(&mut Vec::new(), 60)), (100, Ok(60)));
    assert_eq!((0..50).filter(|_| queue.pop().is_ok()).count(), 40);
}

#[test]
#[should_panic(expected = "capacity must be non-zero")]
fn no_room_at_all_is_a_mistake() {
    let _ = Bounded::<u8>::new(0);
}

#[test]
fn may_be_sent_and_shared() {
    fn check<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    check::<Bounded<std::cell::Cell<u8>>>();
    assert_eq!(format!("{:?}", Bounded::<u8>::new(1)), "Bounded { .. }");
}

/// Many threads push by force, beside pops. Every item comes out once, from a pop or from a push.
#[test]
fn forced_pushes_lose_nothing() {
    const EACH: usize = sized(5_000);
    for capacity in [1, 2, 5] {
        let queue = Bounded::new(capacity);
        let mut got: Vec<usize> = std::thread::scope(|s| {
            let forcers: Vec<_> = (0..3)
                .map(|t| {
                    let queue = &queue;
                    let items = t * EACH..(t + 1) * EACH;
                    s.spawn(move || items.filter_map(|i| queue.force_push(i).unwrap()).collect())
                })
                .collect();
            let popper = s.spawn(|| (0..EACH).filter_map(|_| queue.pop().ok()).collect());
            let all = forcers.into_iter().chain([popper]);
            all.flat_map(|t| -> Vec<usize> { t.join().unwrap() }).collect()
        });
        assert!(queue.len() <= capacity);
        while let Ok(item) = queue.pop() {
            got.push(item);
        }
        got.sort_unstable();
        assert!(got.into_iter().eq(0..3 * EACH));
    }
}
