//! Locks that are held across parallel work. A waiting thread that ran unrelated jobs on top would
//! want such a lock again, and wait for itself. Each test stands for reports to the original.

mod common;

use common::pool;
use rayon_core::*;
use sateen_testkit::{give_way, until};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, RwLock};

/// The numbers of threads. In each test the second branch must be taken by another thread.
const THREADS: [usize; 2] = [2, 8];

#[test]
fn a_mutex_across_a_join() {
    for threads in THREADS {
        let (mutex, taken) = (Mutex::new(()), AtomicBool::new(false));
        pool(threads).scope(|s| {
            let held = mutex.lock().unwrap();
            let taken = &taken;
            let mutex = &mutex;
            join(
                || {
                    s.spawn(move |_| drop(mutex.lock().unwrap()));
                    until(|| taken.load(Ordering::Acquire));
                },
                || {
                    taken.store(true, Ordering::Release);
                    give_way();
                },
            );
            drop(held);
        });
    }
}

#[test]
fn a_borrowed_cell_of_the_thread_across_a_join() {
    thread_local!(static CELL: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) });
    for threads in THREADS {
        let taken = AtomicBool::new(false);
        pool(threads).scope(|s| {
            CELL.with(|cell| {
                let mut numbers = cell.borrow_mut();
                join(
                    || {
                        s.spawn(|_| CELL.with(|cell| cell.borrow_mut().push(1)));
                        until(|| taken.load(Ordering::Acquire));
                    },
                    || {
                        taken.store(true, Ordering::Release);
                        give_way();
                    },
                );
                numbers.push(2);
            });
        });
    }
}

#[test]
fn two_mutexes_in_a_circle() {
    for _ in 0..20 {
        let locks = [Mutex::new(()), Mutex::new(())];
        let taken = [AtomicBool::new(false), AtomicBool::new(false)];
        let both = Barrier::new(2);
        pool(4).scope(|s| {
            for i in 0..2 {
                let (mine, other, taken, both) = (&locks[i], &locks[1 - i], &taken[i], &both);
                s.spawn(move |s| {
                    let held = mine.lock().unwrap();
                    both.wait();
                    join(
                        || {
                            s.spawn(move |_| drop(other.lock().unwrap()));
                            until(|| taken.load(Ordering::Acquire));
                        },
                        || {
                            taken.store(true, Ordering::Release);
                            give_way();
                        },
                    );
                    drop(held);
                });
            }
        });
    }
}

/// Jobs of one pool hold a lock while `call` runs something in the other.
fn across_a_call(call: fn(&ThreadPool)) {
    for threads in [1, 2, 8] {
        let (outer, driver, mutex) = (pool(threads), pool(1), Mutex::new(()));
        outer.scope(|s| {
            for _ in 0..8 {
                s.spawn(|_| {
                    let held = mutex.lock().unwrap();
                    call(&driver);
                    drop(held);
                });
            }
        });
    }
}

#[test]
fn a_mutex_across_a_scope_of_another_pool() {
    across_a_call(|driver| driver.scope(|s| s.spawn(|_| give_way())));
}

#[test]
fn a_mutex_across_a_scope_in_place_of_another_pool() {
    across_a_call(|driver| driver.in_place_scope(|s| s.spawn(|_| give_way())));
}

#[test]
fn readers_behind_a_writer() {
    for threads in THREADS {
        let (lock, taken) = (RwLock::new(0), AtomicBool::new(false));
        std::thread::scope(|t| {
            pool(threads).scope(|s| {
                let read = lock.read().unwrap();
                t.spawn(|| *lock.write().unwrap() += 1);
                give_way();
                join(
                    || {
                        s.spawn(|_| drop(lock.read().unwrap()));
                        until(|| taken.load(Ordering::Acquire));
                    },
                    || {
                        taken.store(true, Ordering::Release);
                        give_way();
                    },
                );
                drop(read);
            });
        });
    }
}

#[test]
fn branches_that_wait_for_each_other_under_a_lock() {
    let (mutex, barrier) = (Mutex::new(()), Barrier::new(2));
    pool(2).install(|| {
        let _held = mutex.lock().unwrap();
        join(|| barrier.wait(), || barrier.wait());
    });
}

#[test]
fn a_mutex_across_nested_loops() {
    fn sum(range: std::ops::Range<u64>) -> u64 {
        if range.end - range.start < 64 {
            return range.sum();
        }
        let middle = range.start + (range.end - range.start) / 2;
        let (a, b) = join(|| sum(range.start..middle), || sum(middle..range.end));
        a + b
    }
    fn each(range: std::ops::Range<u64>, total: &Mutex<u64>) {
        if range.end - range.start > 1 {
            let middle = range.start + (range.end - range.start) / 2;
            join(|| each(range.start..middle, total), || each(middle..range.end, total));
            return;
        }
        let mut total = total.lock().unwrap();
        *total += sum(0..10_000);
    }
    for threads in [1, 2, 8] {
        let total = Mutex::new(0);
        pool(threads).install(|| each(0..200, &total));
        assert_eq!(total.into_inner().unwrap(), 200 * 49_995_000);
    }
}
