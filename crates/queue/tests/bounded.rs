//! The bounded queue beside a sequential twin, under stress, and at its edges.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_queue::mpmc::Bounded;
use sateen_queue::{PopError, PushError};
use std::collections::VecDeque;

/// Laps have 14 to 63 bits; these starts cross the end of a byte and of the word soon.
const LAPS: [u64; 4] = [0, 126, 255, u64::MAX - 1];
const CAPACITIES: [usize; 8] = [1, 2, 3, 4, 5, 7, 8, 100];

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
    for round in 0..if cfg!(miri) { 300 } else { 3_000 } {
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
    for lap in LAPS {
        for capacity in CAPACITIES {
            beside_a_twin(capacity, lap, |i| i, |i| i);
            beside_a_twin(capacity, lap, Box::new, |b| *b);
            beside_a_twin(capacity, lap, |i| [i; 20], |a| a[19]);
        }
    }
}
