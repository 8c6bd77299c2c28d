//! Results, panics and wakers whose destructors panic. What the caller is told stays the same,
//! every value is dropped, and the process goes on.

mod common;

use common::at_all_counts;
use sateen_runtime::{Runtime, fork, join, par_map, par_reduce};
use sateen_testkit::{in_time, message, waker_fn};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Context;

/// Counts its drop, and panics in it. The payload of that panic panics when it is dropped, too.
struct Bomb(Arc<AtomicUsize>);
impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        panic_any(Payload);
    }
}

struct Payload;
impl Drop for Payload {
    fn drop(&mut self) {
        panic!("a payload's destructor");
    }
}

/// The message with which `f` panics, and how many bombs were dropped meanwhile.
fn panics_with<R>(f: impl FnOnce(&dyn Fn() -> Bomb) -> R) -> (String, usize) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let make = || Bomb(Arc::clone(&dropped));
    let caught = catch_unwind(AssertUnwindSafe(|| f(&make)));
    (message(caught.map(std::mem::forget).unwrap_err()), dropped.load(SeqCst))
}

/// Lets another worker steal the second branch, if there is another worker.
fn wait_for_thief(begun: &AtomicUsize, workers: usize) {
    while workers > 1 && begun.load(SeqCst) == 0 {
        std::thread::yield_now();
        sateen_runtime::poll_requests();
    }
}

#[test]
fn the_second_branch_panics() {
    in_time(|| {
        at_all_counts(|rt| {
            let dropped = Arc::new(AtomicUsize::new(0));
            let begun = &AtomicUsize::new(0);
            let told = panics_with(|_| {
                let bomb = Bomb(Arc::clone(&dropped));
                rt.install(|| {
                    join(
                        || {
                            wait_for_thief(begun, rt.workers());
                            bomb
                        },
                        || {
                            begun.store(1, SeqCst);
                            panic!("b")
                        },
                    )
                })
            });
            assert_eq!((told.0.as_str(), dropped.load(SeqCst)), ("b", 1));
        });
    });
}

#[test]
fn both_results_of_a_cancelled_join_are_bombs() {
    in_time(|| {
        at_all_counts(|rt| {
            let dropped = Arc::new(AtomicUsize::new(0));
            let (begun, running) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let workers = rt.workers();
            let task = rt.spawn({
                let (dropped, begun) = (Arc::clone(&dropped), Arc::clone(&begun));
                let running = Arc::clone(&running);
                move || {
                    let (a, b) = (Bomb(Arc::clone(&dropped)), Bomb(dropped));
                    let begun = &begun;
                    let both = join(
                        || {
                            wait_for_thief(begun, workers);
                            running.store(1, SeqCst);
                            while sateen_runtime::check_cancelled().is_ok() {
                                std::thread::yield_now();
                            }
                            a
                        },
                        || {
                            begun.store(1, SeqCst);
                            b
                        },
                    );
                    std::mem::forget(both);
                }
            });
            while running.load(SeqCst) == 0 {
                std::thread::yield_now();
            }
            task.cancel();
            drop(task.join());
            // On a single worker no branch is stolen, so there no thread waited.
            assert!([0, 2].contains(&dropped.load(SeqCst)));
        });
    });
}

#[test]
fn several_results_of_a_fork_are_bombs() {
    in_time(|| {
        at_all_counts(|rt| {
            let dropped = Arc::new(AtomicUsize::new(0));
            let told = panics_with(|_| {
                let bombs = [0, 1, 2, 3].map(|i| (i, Bomb(Arc::clone(&dropped))));
                rt.install(|| {
                    fork(bombs.map(|(i, bomb)| {
                        move || {
                            if i == 3 {
                                std::mem::forget(bomb);
                                panic!("the last")
                            }
                            bomb
                        }
                    }))
                })
            });
            assert_eq!((told.0.as_str(), dropped.load(SeqCst)), ("the last", 3));
        });
    });
}

#[test]
fn results_of_loops_are_bombs() {
    in_time(|| {
        at_all_counts(|rt| {
            let made = Arc::new(AtomicUsize::new(0));
            let dropped = Arc::new(AtomicUsize::new(0));
            let make = |i: usize| {
                assert!(i != 77, "at 77");
                made.fetch_add(1, SeqCst);
                Bomb(Arc::clone(&dropped))
            };
            let items: Vec<usize> = (0..100).collect();
            for _ in 0..4 {
                let told = panics_with(|_| rt.install(|| par_map(&items, |&i| make(i))));
                assert_eq!(told.0, "at 77");
                assert_eq!(made.swap(0, SeqCst), dropped.swap(0, SeqCst));
                let told = panics_with(|_| {
                    let identity = || make(0);
                    let keep = |a: Bomb, b: Bomb| {
                        dropped.fetch_add(1, SeqCst);
                        std::mem::forget(b);
                        a
                    };
                    rt.install(|| par_reduce(0..100, identity, make, keep))
                });
                assert_eq!(told.0, "at 77");
                assert_eq!(made.swap(0, SeqCst), dropped.swap(0, SeqCst));
            }
        });
    });
}

#[test]
fn results_of_a_broadcast_are_bombs() {
    in_time(|| {
        at_all_counts(|rt| {
            let dropped = Arc::new(AtomicUsize::new(0));
            let last = rt.workers() - 1;
            let told = panics_with(|_| {
                rt.broadcast(|i| {
                    assert!(i != last, "the last");
                    Bomb(Arc::clone(&dropped))
                })
            });
            assert_eq!((told.0.as_str(), dropped.load(SeqCst)), ("the last", last));
        });
    });
}

#[test]
fn plain_calls_after_the_end() {
    in_time(|| {
        let rt = Runtime::builder().workers(1).build().expect("a runtime");
        rt.shutdown().expect("an orderly end");
        let dropped = Arc::new(AtomicUsize::new(0));
        let bomb = || Bomb(Arc::clone(&dropped));
        let told = panics_with(|_| rt.install(|| join(bomb, || panic!("b"))));
        assert_eq!((told.0.as_str(), dropped.swap(0, SeqCst)), ("b", 1));
    });
}

/// A task keeps the waker of the last poll of its handle. It panics when it is woken and dropped.
#[test]
fn wakers_kept_by_tasks_are_bombs() {
    in_time(|| {
        at_all_counts(|rt| {
            let dropped = Arc::new(AtomicUsize::new(0));
            let event = Arc::new(sateen_sync::Event::new());
            for round in 0..4 {
                let bomb = Bomb(Arc::clone(&dropped));
                let waker = waker_fn(move || {
                    _ = &bomb;
                    panic!("woken");
                });
                let wait = Arc::clone(&event);
                let bomb = Bomb(Arc::clone(&dropped));
                let mut task = match round % 2 {
                    0 => rt.spawn(move || {
                        wait.wait();
                        bomb
                    }),
                    _ => rt.spawn_async(async move {
                        wait.wait_async().await;
                        bomb
                    }),
                };
                let pending = pin!(&mut task).poll(&mut Context::from_waker(&waker)).is_pending();
                assert!(pending, "the event is not set");
                std::mem::forget(catch_unwind(AssertUnwindSafe(|| drop(waker))));
                if round < 2 {
                    // The task is detached, so the worker drops all of it.
                    std::mem::forget(catch_unwind(AssertUnwindSafe(|| drop(task))));
                    event.set();
                } else {
                    event.set();
                    std::mem::forget(task.join());
                    dropped.fetch_add(1, SeqCst);
                }
                while dropped.load(SeqCst) < 2 {
                    std::thread::yield_now();
                }
                assert_eq!(dropped.swap(0, SeqCst), 2);
                event.reset();
            }
        });
    });
}

/// Waits for an event when it is dropped, and so takes a token that was left for the task.
struct WaitsWhenDropped(Arc<Flags>);
#[derive(Default)]
struct Flags {
    entered: sateen_sync::Event,
    go: sateen_sync::Event,
}
impl Drop for WaitsWhenDropped {
    fn drop(&mut self) {
        self.0.entered.set();
        self.0.go.wait();
    }
}

/// The waker of an earlier poll is dropped when the handle is joined. The joiner waits in its
/// destructor, and the task ends meanwhile.
#[test]
fn a_joiner_looks_again_after_the_drop_of_an_earlier_waker() {
    in_time(|| {
        at_all_counts(|rt| {
            let (event, flags) = (Arc::new(sateen_sync::Event::new()), Arc::new(Flags::default()));
            let started = Arc::new(sateen_sync::Event::new());
            let mut task = rt.spawn({
                let (event, started) = (Arc::clone(&event), Arc::clone(&started));
                move || {
                    started.set();
                    event.wait();
                }
            });
            // Otherwise the joiner may run it in place.
            started.wait();
            let waits = WaitsWhenDropped(Arc::clone(&flags));
            let waker = waker_fn(move || _ = &waits);
            assert!(pin!(&mut task).poll(&mut Context::from_waker(&waker)).is_pending());
            drop(waker);
            let id = task.id();
            let joiner = rt.spawn(move || task.join());
            flags.entered.wait();
            event.set();
            // The joiner has been told once no fiber runs the task and each worker has done
            // something else.
            while rt.report().fibers.iter().any(|fiber| fiber.task == Some(id)) {
                std::thread::yield_now();
            }
            rt.broadcast(|_| ());
            flags.go.set();
            joiner.join().expect("joins").expect("ended");
        });
    });
}
