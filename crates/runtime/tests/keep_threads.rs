//! Code that was not made for tasks, on a runtime whose waits keep the worker's thread: locks of
//! `std` that are held across parallel calls, and values that nest in thread-locals.

use sateen_runtime::{Runtime, join, par_for, par_reduce, scope, sleep, spawn, yield_now};
use sateen_testkit::{give_way, until, watched};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, OnceLock, RwLock};
use std::time::Duration;

const WORKERS: [usize; 3] = [1, 2, 8];

fn runtime(workers: usize) -> Runtime {
    // `strict_locks.rs` includes these tests.
    let strict = env!("CARGO_CRATE_NAME").starts_with("strict");
    let builder = Runtime::builder().workers(workers).keep_threads(true).strict(strict);
    builder.substitutes(0).build().expect("a runtime")
}

/// Runs `f` some times in a runtime of each number of workers from `least` on.
fn at_all(what: &str, least: usize, times: usize, f: impl Fn() + Sync) {
    for workers in WORKERS.into_iter().filter(|&workers| workers >= least) {
        watched(&format!("{what} on {workers} workers"), || {
            let rt = runtime(workers);
            (0..times).for_each(|_| rt.install(&f));
            rt.shutdown().expect("an orderly end");
        });
    }
}

#[test]
fn a_lock_across_a_nested_loop() {
    at_all("a loop under a lock", 1, 4, || {
        let total = Mutex::new(0);
        par_for(0..300, |i| {
            let mut total = total.lock().unwrap();
            *total += par_reduce(0..i * 10, || 0, |j| j, |a, b| a + b);
        });
        let expected = (0..300).map(|i| (0..i * 10).sum::<usize>()).sum::<usize>();
        assert_eq!(total.into_inner().unwrap(), expected);
    });
}

#[test]
fn a_lock_across_sleeps_and_yields() {
    at_all("tasks that sleep under a lock", 1, 1, || {
        let total = Arc::new(Mutex::new(0));
        let one = |i: u64| {
            let total = Arc::clone(&total);
            spawn(move || {
                let mut total = total.lock().unwrap();
                sleep(Duration::from_micros(i % 3 * 50));
                yield_now();
                *total += 1;
            })
        };
        let tasks: Vec<_> = (0..200).map(one).collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(*total.lock().unwrap(), 200);
    });
}

#[test]
fn a_lock_across_scopes() {
    at_all("scopes under a lock", 1, 4, || {
        let (total, rounds) = (Mutex::new(0), AtomicUsize::new(0));
        scope(|s| {
            for _ in 0..50 {
                s.spawn(|_| {
                    let mut total = total.lock().unwrap();
                    scope(|inner| {
                        (0..20).for_each(|_| inner.spawn(|_| _ = rounds.fetch_add(1, SeqCst)))
                    });
                    *total += 1;
                });
            }
        });
        assert_eq!((total.into_inner().unwrap(), rounds.into_inner()), (50, 1000));
    });
}

#[test]
fn the_joined_task_of_a_holder() {
    at_all("a join under a lock", 1, 4, || {
        let total = Arc::new(Mutex::new(0));
        let one = |_| {
            let total = Arc::clone(&total);
            spawn(move || {
                let mut total = total.lock().unwrap();
                *total += spawn(|| 1).join().unwrap();
            })
        };
        let tasks: Vec<_> = (0..100).map(one).collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(*total.lock().unwrap(), 100);
    });
}

thread_local! {
    static DEPTH: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    static BORROWED: Cell<bool> = const { Cell::new(false) };
}

/// Sets, calls, restores.
fn within<R>(number: usize, f: impl FnOnce() -> R) -> R {
    let before = DEPTH.with_borrow_mut(|depth| {
        depth.push(number);
        depth.len()
    });
    let result = f();
    DEPTH.with_borrow_mut(|depth| {
        assert_eq!((depth.len(), depth.pop()), (before, Some(number)));
    });
    result
}

fn nested_sum(depth: usize) -> usize {
    if depth == 0 {
        std::thread::yield_now();
        return 1;
    }
    within(depth, || {
        let (a, b) = join(|| nested_sum(depth - 1), || nested_sum(depth - 1));
        a + b
    })
}

#[test]
fn values_nest_in_thread_locals() {
    at_all("thread-locals", 1, 4, || {
        let sums = AtomicUsize::new(0);
        scope(|s| (0..20).for_each(|_| s.spawn(|_| _ = sums.fetch_add(nested_sum(8), SeqCst))));
        assert_eq!(sums.into_inner(), 20 * 256);
    });
}

/// The holder's own thread must not start the spawn, which wants the lock.
#[test]
fn a_spawn_beside_a_stolen_branch() {
    at_all("a spawn above a branch", 2, 20, || {
        let (lock, started) = (Mutex::new(()), AtomicBool::new(false));
        scope(|s| {
            let held = lock.lock().unwrap();
            join(
                || {
                    s.spawn(|_| drop(lock.lock().unwrap()));
                    until(|| started.load(SeqCst));
                },
                || {
                    started.store(true, SeqCst);
                    give_way();
                },
            );
            drop(held);
        });
    });
}

/// The same with a value that only one may borrow at a time, on each thread.
#[test]
fn a_spawn_beside_a_borrowed_thread_local() {
    fn borrow(f: impl FnOnce()) {
        assert!(!BORROWED.replace(true), "already borrowed");
        f();
        BORROWED.set(false);
    }
    at_all("a spawn that borrows", 2, 20, || {
        let started = AtomicBool::new(false);
        scope(|s| {
            borrow(|| {
                join(
                    || {
                        s.spawn(|_| borrow(|| ()));
                        until(|| started.load(SeqCst));
                    },
                    || {
                        started.store(true, SeqCst);
                        give_way();
                    },
                );
            });
        });
    });
}

/// Each of two tasks holds a lock, and its spawn wants the other's.
#[test]
fn two_locks_crosswise() {
    at_all("two locks", 8, 20, || {
        let locks = [Mutex::new(()), Mutex::new(())];
        let started = [AtomicBool::new(false), AtomicBool::new(false)];
        let both = Barrier::new(2);
        let (locks, started, both) = (&locks, &started, &both);
        scope(|s| {
            for me in 0..2 {
                s.spawn(move |s| {
                    let held = locks[me].lock().unwrap();
                    both.wait();
                    join(
                        || {
                            s.spawn(move |_| drop(locks[1 - me].lock().unwrap()));
                            until(|| started[me].load(SeqCst));
                        },
                        || {
                            started[me].store(true, SeqCst);
                            give_way();
                        },
                    );
                    drop(held);
                });
            }
        });
    });
}

/// A waiting writer keeps new readers out.
#[test]
fn a_reader_beside_a_writer() {
    at_all("a reader", 2, 5, || {
        let (lock, started) = (RwLock::new(0), AtomicBool::new(false));
        std::thread::scope(|threads| {
            scope(|s| {
                let read = lock.read().unwrap();
                threads.spawn(|| *lock.write().unwrap() += 1);
                give_way();
                join(
                    || {
                        s.spawn(|_| drop(lock.read().unwrap()));
                        until(|| started.load(SeqCst));
                    },
                    || {
                        started.store(true, SeqCst);
                        give_way();
                    },
                );
                drop(read);
            });
        });
    });
}

#[test]
fn branches_that_wait_for_each_other() {
    at_all("a barrier", 2, 50, || {
        let (lock, barrier) = (Mutex::new(()), Barrier::new(2));
        let held = lock.lock().unwrap();
        join(|| _ = barrier.wait(), || _ = barrier.wait());
        drop(held);
    });
}

#[test]
fn an_initialiser_with_a_loop() {
    at_all("an initialiser", 1, 20, || {
        let cell = OnceLock::new();
        par_for(0..100, |_| {
            let sum = cell.get_or_init(|| par_reduce(0..1000usize, || 0, |i| i, |a, b| a + b));
            assert_eq!(*sum, 499_500);
        });
    });
}

/// A call from a driver's tasks into a runtime of its own, under the driver's lock.
#[test]
fn a_driver_with_a_runtime_of_its_own() {
    watched("a driver", || {
        for _ in 0..20 {
            let (outer, driver, lock) = (runtime(1), runtime(1), Mutex::new(()));
            outer.scope(|s| {
                for _ in 0..3 {
                    s.spawn(|_| {
                        let held = lock.lock().unwrap();
                        driver.scope(|d| d.spawn(|_| give_way()));
                        drop(held);
                    });
                }
            });
        }
    });
}

#[test]
fn runtimes_that_call_each_other() {
    for workers in WORKERS {
        watched("mutual calls", || {
            let (a, b) = (runtime(workers), runtime(workers));
            for waits in [false, true] {
                for _ in 0..20 {
                    let sum = a.install(|| {
                        b.install(|| {
                            if waits {
                                give_way();
                            }
                            a.install(|| {
                                let (x, y) = join(|| 1, || b.install(|| 2));
                                x + y
                            })
                        })
                    });
                    assert_eq!(sum, 3);
                }
            }
        });
    }
}

#[test]
fn broadcasts_that_call_each_other() {
    watched("mutual broadcasts", || {
        let (a, b) = (runtime(3), runtime(7));
        for _ in 0..20 {
            let count = AtomicUsize::new(0);
            a.install(|| b.broadcast(|_| drop(a.broadcast(|_| count.fetch_add(1, SeqCst)))));
            assert_eq!(count.into_inner(), 3 * 7);
        }
    });
}

/// Two workers wait for a share of each other's broadcast.
#[test]
fn two_broadcasts_at_once() {
    for workers in [2, 8] {
        watched("two broadcasts", || {
            let rt = runtime(workers);
            for _ in 0..50 {
                let count = AtomicUsize::new(0);
                let broadcast = || drop(rt.broadcast(|_| count.fetch_add(1, SeqCst)));
                rt.install(|| join(broadcast, broadcast));
                assert_eq!(count.into_inner(), 2 * workers);
            }
        });
    }
}

/// Panics come out of helped work as from any branch, and nothing is lost.
#[test]
fn panics_come_out() {
    at_all("panics", 1, 20, || {
        let lock = Mutex::new(0);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = lock.lock().unwrap();
            par_for(0..200usize, |i| {
                let sum = par_reduce(0..i, || 0, |j| j, |a, b| a + b);
                assert_ne!(sum, 4950, "the hundredth");
            });
        }));
        assert!(caught.is_err());
    });
}

/// All workers of two runtimes call the other at the same time. Nobody is free, and no call is
/// under a wait of the other runtime.
#[test]
fn calls_of_two_runtimes_cross() {
    for workers in [1, 2, 5] {
        watched(&format!("crossing calls on {workers} workers"), || {
            let pair = [runtime(workers), runtime(workers)];
            let (both, count) = (Barrier::new(2 * workers), AtomicUsize::new(0));
            std::thread::scope(|s| {
                for (own, other) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
                    let (both, count) = (&both, &count);
                    s.spawn(move || {
                        own.broadcast(|_| {
                            both.wait();
                            other.install(|| count.fetch_add(1, SeqCst));
                            other.scope(|s| s.spawn(|_| _ = count.fetch_add(1, SeqCst)));
                        });
                    });
                }
            });
            assert_eq!(count.load(SeqCst), 4 * workers);
        });
    }
}
