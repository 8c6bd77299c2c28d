//! Limits at the ends of their range, and deques that steal from themselves.
#![cfg(not(loom))]

use sateen_deque::{Injector, Worker};
use std::panic::catch_unwind;

#[test]
fn batches_of_any_size() {
    for limit in [1, 2, 1000, usize::MAX / 2 + 1, usize::MAX] {
        for make in [Worker::new_fifo, Worker::new_lifo] {
            let (from, to) = (make(), make());
            (0..100).for_each(|i| from.push(i));
            assert!(from.stealer().steal_batch_with_limit(&to, limit).is_success());
            let taken = to.len();
            assert!(taken >= 1 && taken <= limit.min(50), "{taken} of {limit}");
            let popped = from.stealer().steal_batch_with_limit_and_pop(&to, limit).success();
            let mut all: Vec<usize> = std::iter::from_fn(|| from.pop()).collect();
            all.extend(std::iter::from_fn(|| to.pop()));
            all.extend(popped);
            all.sort_unstable();
            assert_eq!(all, (0..100).collect::<Vec<_>>());
        }
        let (from, to) = (Injector::from_iter(0..100), Worker::new_fifo());
        assert!(from.steal_batch_with_limit(&to, limit).is_success());
        assert!(from.steal_batch_with_limit_and_pop(&to, limit).is_success());
        assert_eq!(from.len() + to.len(), 99);
    }
}

#[test]
fn batches_of_none_are_refused() {
    let (from, to) = (Worker::from_iter([1]), Worker::<i32>::new_fifo());
    let stealer = from.stealer();
    let steal = std::panic::AssertUnwindSafe(|| stealer.steal_batch_with_limit(&to, 0).is_empty());
    assert!(catch_unwind(steal).is_err());
    assert_eq!((from.pop(), to.pop()), (Some(1), None));
}

#[test]
fn a_deque_steals_from_itself() {
    for make in [Worker::new_fifo, Worker::new_lifo] {
        let own = make();
        (0..100).for_each(|i| own.push(i));
        for limit in [1, 7, usize::MAX] {
            let _ = own.stealer().steal_batch_with_limit(&own, limit);
            if let Some(item) = own.stealer().steal_batch_with_limit_and_pop(&own, limit).success()
            {
                own.push(item);
            }
        }
        let mut all: Vec<i32> = std::iter::from_fn(|| own.pop()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }
}
