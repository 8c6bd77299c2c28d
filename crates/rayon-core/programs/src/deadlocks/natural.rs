//! The natural forms: what people write, and what then hangs now and then.

use crate::Pools;
use parking_lot as pl;
use rayon::prelude::*;
use rayon::{current_thread_index, join, scope};
use std::cell::Cell;
use std::hint::black_box;
use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Returns the sum of the numbers below `n`.
fn below(n: u64) -> u64 {
    n * (n - 1) / 2
}

/// Returns `n` after about a hundred nanoseconds.
fn slowly(n: u64) -> u64 {
    black_box((0..200).fold(n, |a, i| a ^ (a << 1 ^ i)));
    n
}

/// Computes for about 50 microseconds, as long as others need for their locks.
fn elsewhere() {
    black_box((0..500).map(slowly).sum::<u64>());
}

/// Issue 592: each item collects in parallel, under one lock.
pub(crate) fn lock_over_a_collection(pools: &Pools) {
    let lock = Mutex::new(0);
    pools.outer.install(|| {
        (0..40u64).into_par_iter().for_each(|i| {
            elsewhere();
            let mut sum = lock.lock().unwrap();
            let items: Vec<u64> = (0..500u64).into_par_iter().map(|k| slowly(k) + i).collect();
            *sum += items.into_iter().sum::<u64>();
        });
    });
    let wanted = 40 * below(500) + 500 * below(40);
    assert_eq!(lock.into_inner().unwrap(), wanted, "the sum");
}

/// A loop of 1,000 items runs under a lock, in each item of another loop.
pub(crate) fn lock_over_a_loop(pools: &Pools) {
    let (lock, items) = (Mutex::new(0), AtomicU64::new(0));
    pools.outer.install(|| {
        (0..32).into_par_iter().for_each(|_| {
            elsewhere();
            let mut sections = lock.lock().unwrap();
            (0..1_000u64).into_par_iter().for_each(|i| {
                items.fetch_add(slowly(i), Ordering::Relaxed);
            });
            *sections += 1;
        });
    });
    assert_eq!(lock.into_inner().unwrap(), 32, "sections that ran");
    assert_eq!(items.into_inner(), 32 * below(1_000), "the sum");
}

/// Tasks of a scope run under a lock, in each item of a loop.
pub(crate) fn lock_over_a_scope(pools: &Pools) {
    let (lock, tasks) = (pl::Mutex::new(0), AtomicU64::new(0));
    pools.outer.install(|| {
        (0..32).into_par_iter().for_each(|_| {
            elsewhere();
            let mut sections = lock.lock();
            scope(|s| {
                for task in 0..50 {
                    let sum = &tasks;
                    s.spawn(move |_| {
                        let numbers = (0..20).map(|i| slowly(task + i));
                        sum.fetch_add(numbers.sum(), Ordering::Relaxed);
                    });
                }
            });
            *sections += 1;
        });
    });
    assert_eq!(lock.into_inner(), 32, "sections that ran");
    assert_eq!(tasks.into_inner(), 32 * (20 * below(50) + 50 * below(20)), "the sum");
}

/// A tree of joins runs under a lock, in each item of a loop.
pub(crate) fn lock_over_a_tree(pools: &Pools) {
    fn sum(from: u64, to: u64) -> u64 {
        if to - from < 20 {
            return (from..to).map(slowly).sum();
        }
        let middle = from.midpoint(to);
        let (a, b) = join(|| sum(from, middle), || sum(middle, to));
        a + b
    }
    let lock = pl::Mutex::new(0);
    pools.outer.install(|| {
        (0..32).into_par_iter().for_each(|_| {
            elsewhere();
            let mut held = lock.lock();
            *held += sum(0, 1_000);
        });
    });
    assert_eq!(lock.into_inner(), 32 * below(1_000), "the sum");
}

/// A library that installs itself in the pool is called under a lock.
pub(crate) fn lock_over_an_install(pools: &Pools) {
    let lock = Mutex::new(0);
    pools.outer.install(|| {
        (0..32).into_par_iter().for_each(|_| {
            elsewhere();
            let mut held = lock.lock().unwrap();
            let numbers = || (0..1_000u64).into_par_iter().map(slowly);
            *held += pools.outer.install(|| numbers().sum::<u64>());
        });
    });
    assert_eq!(lock.into_inner().unwrap(), 32 * below(1_000), "the sum");
}

/// Issue 1083: each thread has a buffer, and sorts it in parallel when it is full.
pub(crate) fn buffer_of_each_thread(pools: &Pools) {
    const FULL: usize = 5_000;
    const ITEMS: u64 = 60_000;
    let buffers: Vec<Mutex<Vec<u64>>> = (0..pools.threads).map(|_| Mutex::default()).collect();
    let sorted = AtomicU64::new(0);
    pools.outer.install(|| {
        (0..ITEMS).into_par_iter().for_each(|i| {
            let me = current_thread_index().expect("a worker has an index");
            let mut buffer = buffers[me].lock().unwrap();
            buffer.push(i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            if buffer.len() == FULL {
                buffer.par_sort_unstable();
                assert!(buffer.is_sorted(), "a sorted buffer");
                sorted.fetch_add(FULL as u64, Ordering::Relaxed);
                buffer.clear();
            }
        });
    });
    let rest: usize = buffers.iter().map(|buffer| buffer.lock().unwrap().len()).sum();
    assert_eq!(sorted.into_inner() + rest as u64, ITEMS, "items in buffers");
}

/// Issue 1142: iterators that join under their bridge's lock, inside of one another.
pub(crate) fn bridges_that_join(pools: &Pools) {
    fn bridge(items: u64) -> impl ParallelIterator<Item = u64> {
        let joined = |i| join(|| slowly(i), || slowly(0));
        (0..items).map(joined).map(|(a, b)| a + b).par_bridge()
    }
    let sums = pools.outer.broadcast(|_| {
        let inner = |_| iter::once(()).par_bridge().map(|()| bridge(8).sum::<u64>()).sum::<u64>();
        bridge(100).map(inner).sum::<u64>()
    });
    assert_eq!(sums, vec![100 * below(8); pools.threads], "the sums");
}

/// Issue 1174: each item uses a driver that has a lock and a pool of its own.
pub(crate) fn requests_to_a_driver(pools: &Pools) {
    let lock = Mutex::new(0);
    pools.outer.install(|| {
        (0..64).into_par_iter().for_each(|_| {
            let mut sum = lock.lock().unwrap();
            *sum += pools.driver.install(|| (0..1_000u64).into_par_iter().sum::<u64>());
        });
    });
    assert_eq!(lock.into_inner().unwrap(), 64 * below(1_000), "the sum");
}

/// Issue 1205: most items read and compute in parallel meanwhile, some write.
pub(crate) fn readers_and_writers(pools: &Pools) {
    let lock = pl::RwLock::new(0u64);
    pools.outer.install(|| {
        (0..64u64).into_par_iter().for_each(|i| {
            elsewhere();
            if i % 4 == 0 {
                *lock.write() += 1;
            } else {
                let read = lock.read();
                let sum: u64 = (0..500u64).into_par_iter().map(|k| slowly(k) + *read).sum();
                assert_eq!(sum, below(500) + 500 * *read, "the sum");
            }
        });
    });
    assert_eq!(lock.into_inner(), 16, "writers that ran");
}

/// Several items want the same cell, whose initialiser is a parallel loop.
pub(crate) fn initialisers_with_loops(pools: &Pools) {
    let cells: Vec<OnceLock<u64>> = (0..8).map(|_| OnceLock::new()).collect();
    pools.outer.install(|| {
        (0..64).into_par_iter().for_each(|i| {
            elsewhere();
            let initial = || (0..500u64).into_par_iter().map(slowly).sum();
            assert_eq!(*cells[i / 8].get_or_init(initial), below(500), "a cell's value");
        });
    });
}

thread_local!(static NODE: Cell<u32> = const { Cell::new(0) });

/// Each node of a tree of joins sets its thread's value and restores it. A node may meet the value
/// of a node above it, or none.
pub(crate) fn values_down_a_tree(pools: &Pools) {
    const LEAVES: u32 = 1 << 9;
    fn descend(node: u32) -> u32 {
        let met = NODE.replace(node);
        let above = iter::successors(Some(node), |n| Some(n / 2)).take_while(|n| *n > 0);
        assert!(met == 0 || above.skip(1).any(|n| n == met), "node {node} meets the value {met}");
        let leaves = if node >= LEAVES {
            // About ten microseconds, so that others come to steal.
            black_box((0..10_000u64).fold(1, |a, i| a ^ (a << 1 ^ i)));
            1
        } else {
            let (a, b) = join(|| descend(2 * node), || descend(2 * node + 1));
            a + b
        };
        assert_eq!(NODE.replace(met), node, "the value around the joins of a node");
        leaves
    }
    assert_eq!(pools.outer.install(|| descend(1)), LEAVES, "leaves");
}
