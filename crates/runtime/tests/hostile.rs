//! What users can do to a runtime without breaking it. Destructors panic, hooks fork, fibers wake
//! each other for ever, and threads never start.

mod common;

use common::{at_all_counts, fib, with_runtime};
use sateen_runtime::{Runtime, fork, join, scope, spawn};
use sateen_sync::Event;
use sateen_testkit::message;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// Panics when it is dropped, and the payload of that panic panics when it is dropped.
struct Bomb;
impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic_any(Payload);
        }
    }
}
struct Payload;
impl Drop for Payload {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a payload's destructor");
        }
    }
}

#[test]
fn results_whose_destructors_panic() {
    at_all_counts(|rt| {
        for _ in 0..20 {
            let ran = &AtomicUsize::new(0);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                rt.install(|| {
                    fork([0, 1, 2, 3].map(|i| {
                        move || {
                            ran.fetch_add(1, SeqCst);
                            assert!(i != 0, "the first");
                            Bomb
                        }
                    }))
                })
            }));
            assert_eq!(message(caught.map(std::mem::forget).unwrap_err()), "the first");
            assert_eq!(ran.load(SeqCst), 4);
            let caught =
                catch_unwind(AssertUnwindSafe(|| rt.install(|| join(|| panic!("a"), || Bomb))));
            assert_eq!(message(caught.map(|((), bomb)| std::mem::forget(bomb)).unwrap_err()), "a");
            let caught = catch_unwind(AssertUnwindSafe(|| {
                rt.scope(|s| {
                    s.spawn(|_| panic_any(Payload));
                    s.spawn(|_| panic_any(Payload));
                });
            }));
            std::mem::forget(caught.expect_err("a panic"));
            drop(rt.spawn(|| Bomb));
        }
        assert_eq!(rt.install(|| fib(10)), 55);
    });
}

#[test]
fn hooks_may_fork_and_are_on_their_own() {
    let count = Arc::new(AtomicUsize::new(0));
    let (a, b) = (Arc::clone(&count), Arc::clone(&count));
    let work = |count: &AtomicUsize| {
        assert_eq!(fib(10), 55);
        scope(|s| {
            s.spawn(|_| {
                count.fetch_add(1, SeqCst);
            });
        });
        assert!(spawn(|| ()).join().is_err(), "nobody would run it");
    };
    let rt = Runtime::builder()
        .workers(2)
        .on_start(move |_| work(&a))
        .on_exit(move |_| work(&b))
        .build()
        .expect("a runtime");
    assert_eq!(rt.install(|| fib(10)), 55);
    drop(rt);
    assert_eq!(count.load(SeqCst), 4);
}

#[test]
fn fibers_that_wake_each_other_do_not_keep_new_work_out() {
    with_runtime(1, |rt| {
        let stop = Arc::new(AtomicBool::new(false));
        let events: Arc<[Event; 2]> = Arc::new([Event::new(), Event::new()]);
        let players: Vec<_> = (0..2)
            .map(|me| {
                let (stop, events) = (Arc::clone(&stop), Arc::clone(&events));
                rt.spawn(move || {
                    while !stop.load(SeqCst) {
                        events[1 - me].set();
                        events[me].wait();
                        events[me].reset();
                    }
                    events[1 - me].set();
                })
            })
            .collect();
        let stopper = Arc::clone(&stop);
        rt.spawn(move || stopper.store(true, SeqCst)).join().expect("gets its turn");
        players.into_iter().for_each(|p| p.join().expect("stopped"));
    });
}

#[test]
fn a_task_that_only_spawns_and_joins_lets_ready_ones_through() {
    common::a_fiber_runs_during(|| spawn(|| ()).join().expect("a join"));
}

/// A worker is woken for a task from outside. Before it gets to that task, a fiber of its own
/// becomes ready.
#[test]
fn a_wake_up_is_passed_on_by_a_worker_with_business_of_its_own() {
    with_runtime(2, |rt| {
        for _ in 0..200 {
            let (event, blocked) = (Arc::new(Event::new()), Arc::new(AtomicBool::new(false)));
            let (inner, flag) = (Arc::clone(&event), Arc::clone(&blocked));
            let hog = rt.spawn(move || {
                inner.wait();
                // Keeps its worker busy until the other task has run.
                while !flag.load(SeqCst) {
                    std::hint::spin_loop();
                }
            });
            while rt.metrics().sleeping < 2 {
                std::thread::yield_now();
            }
            let flag = Arc::clone(&blocked);
            let task = rt.spawn(move || flag.store(true, SeqCst));
            event.set();
            task.join().expect("starts on the other worker");
            hog.join().expect("ends");
        }
    });
}

#[test]
fn a_worker_without_a_thread_leaves_the_rest_whole() {
    let rt = Runtime::builder()
        .workers(3)
        .spawn_handler(|worker| {
            if worker.index() == 1 {
                return Ok(());
            }
            std::thread::Builder::new().spawn(|| worker.run()).map(drop)
        })
        .build()
        .expect("a runtime");
    assert_eq!(rt.broadcast(|i| i), [0, 2]);
    assert_eq!(rt.install(|| fib(15)), 610);
    rt.shutdown().expect("an orderly end");
}

#[test]
fn a_runtime_may_end_inside_anothers_task() {
    with_runtime(1, |outer| {
        for _ in 0..20 {
            let event = Arc::new(Event::new());
            let inner_event = Arc::clone(&event);
            // The inner runtime ends only after the only worker of the outer one has done something
            // else.
            let ends = outer.spawn(move || {
                let inner = Runtime::builder().workers(1).build().expect("inner");
                drop(inner.spawn(move || inner_event.wait()));
                drop(inner);
            });
            outer.spawn(move || event.set()).join().expect("runs meanwhile");
            ends.join().expect("ended");
        }
    });
}

#[test]
fn a_worker_thread_cannot_be_two_workers() {
    let result = Runtime::builder()
        .workers(1)
        .spawn_handler(|worker| std::thread::Builder::new().spawn(|| worker.run()).map(drop))
        .build()
        .expect("outer")
        .install(|| {
            Runtime::builder()
                .workers(1)
                .spawn_handler(|worker| {
                    let run = catch_unwind(AssertUnwindSafe(|| worker.run()));
                    run.map_err(|p| std::io::Error::other(message(p)))
                })
                .build()
                .map(drop)
                .map_err(|e| e.to_string())
        });
    let error = result.expect_err("refused");
    assert!(error.ends_with("WorkerThread::run on a thread that is a worker already"), "{error}");
}
