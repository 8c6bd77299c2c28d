//! Tasks that wait. On top of a waiter's stack runs only what it waits for, and all other work goes
//! on.

mod common;

use common::{at_all_counts, builder, fib, many, strict, with_runtime};
use sateen_runtime::{JoinError, JoinHandle, Runtime, fork, join, par_for, spawn};
use sateen_sync::{Event, Mutex};
use sateen_testkit::message;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[test]
fn a_mutex_held_across_a_join_while_all_others_want_it() {
    at_all_counts(|rt| {
        let total = Mutex::new(0u64);
        par_for_in(rt, 200, |_| {
            let mut guard = total.lock();
            let (a, b) = join(|| fib(8), || fib(9));
            *guard += a + b;
        });
        assert_eq!(total.into_inner(), 200 * 55);
    });
}

fn par_for_in(rt: &Runtime, n: usize, f: impl Fn(usize) + Sync) {
    rt.install(|| par_for(0..n, &f));
}

#[test]
fn a_branch_that_waits_for_the_other() {
    at_all_counts(|rt| {
        for _ in 0..200 {
            let event = Event::new();
            rt.install(|| join(|| event.wait(), || event.set()));
            assert!(event.is_set());
        }
    });
}

fn nested_waits(depth: usize, deepest: &AtomicUsize) {
    if depth == 0 {
        return;
    }
    let here = 0u8;
    let started = Event::new();
    join(
        || started.wait(),
        || {
            started.set();
            // How far this frame is from the waiter's. A deep stack would show here.
            let distance = (&raw const here as usize).abs_diff(&raw const started as usize);
            deepest.fetch_max(distance, SeqCst);
            nested_waits(depth - 1, deepest);
        },
    );
}

#[test]
fn thousands_of_nested_stolen_waits() {
    for workers in [1, 2, 8] {
        with_runtime(workers, |rt| {
            let deepest = AtomicUsize::new(0);
            let depth = many(10_000);
            rt.install(|| nested_waits(depth, &deepest));
            assert!(deepest.load(SeqCst) < 4096, "each wait lies near its own frame");
            assert!(rt.metrics().total().suspensions >= depth as u64 / 2);
        });
    }
}

#[test]
fn a_suspended_tasks_older_forks_are_found_by_others() {
    at_all_counts(|rt| {
        for _ in 0..50 {
            let all_others_ran = Event::new();
            let ran = AtomicUsize::new(0);
            let other = || {
                if ran.fetch_add(1, SeqCst) + 1 == 3 {
                    all_others_ran.set();
                }
            };
            // The innermost branch waits for forks of its ancestors, which lie below it on the
            // stack.
            rt.install(|| {
                join(|| join(|| join(|| all_others_ran.wait(), other), other), other);
            });
            assert_eq!(ran.load(SeqCst), 3);
        }
    });
}

#[test]
fn spawns_in_one_branch_are_not_in_the_way_of_the_other() {
    at_all_counts(|rt| {
        for _ in 0..50 {
            let (handles, n) = rt.install(|| {
                join(
                    || (0..20).map(|i| spawn(move || i)).collect::<Vec<JoinHandle<usize>>>(),
                    || fib(10),
                )
            });
            assert_eq!(n, 55);
            let sum: usize = handles.into_iter().map(|h| h.join().expect("a number")).sum();
            assert_eq!(sum, 190);
        }
    });
}

#[test]
fn panics_around_suspensions() {
    at_all_counts(|rt| {
        for _ in 0..50 {
            let event = Event::new();
            // While `a` is suspended, `b` panics on another worker, or on another stack of the same
            // worker.
            let caught = catch_unwind(AssertUnwindSafe(|| {
                rt.install(|| {
                    join(
                        || event.wait(),
                        || {
                            event.set();
                            panic!("b, stolen")
                        },
                    )
                })
            }));
            assert_eq!(message(caught.unwrap_err()), "b, stolen");
            // `a` panics after a suspension. `b` has ended by then.
            let event = Event::new();
            let caught = catch_unwind(AssertUnwindSafe(|| {
                rt.install(|| {
                    join(
                        || {
                            event.wait();
                            panic!("a, resumed")
                        },
                        || event.set(),
                    )
                })
            }));
            assert_eq!(message(caught.unwrap_err()), "a, resumed");
        }
    });
}

#[test]
fn forks_wait_across_branches() {
    at_all_counts(|rt| {
        for _ in 0..50 {
            let events: [Event; 4] = std::array::from_fn(|_| Event::new());
            let events = &events;
            // Each branch waits for the next one. The last branch sets off the chain.
            let order = rt.install(|| {
                fork([0usize, 1, 2, 3].map(|i| {
                    move || {
                        if i < 3 {
                            events[i + 1].wait();
                        }
                        events[i].set();
                        i
                    }
                }))
            });
            assert_eq!(order, [0, 1, 2, 3]);
        }
    });
}

/// Each task of a chain joins the next one.
fn chain(depth: usize) -> usize {
    if depth == 0 { 0 } else { 1 + spawn(move || chain(depth - 1)).join().expect("a link") }
}

#[test]
fn a_long_chain_of_joins_does_not_need_a_deep_stack() {
    let depth = many(5_000);
    at_all_counts(|rt| assert_eq!(rt.install(|| chain(depth)), depth));
}

#[test]
fn joining_in_any_order_from_any_place() {
    at_all_counts(|rt| {
        let handles: Vec<_> = (0..100usize).map(|i| rt.spawn(move || i)).collect();
        let sum: usize = handles.into_iter().rev().map(|h| h.join().expect("a number")).sum();
        assert_eq!(sum, 4950);
        // One task makes a handle, and another one joins it.
        let outer = rt.spawn(|| spawn(|| 3));
        let inner = outer.join().expect("a handle");
        assert_eq!(rt.spawn(move || inner.join().expect("three")).join().expect("three"), 3);
    });
}

#[test]
fn tasks_start_later_when_all_stacks_are_in_use() {
    for workers in [1, 2, 3] {
        let rt = builder().workers(workers).max_stacks(workers + 2).build().expect("built");
        let gate = Arc::new(Event::new());
        let waiting: Vec<_> = (0..workers + 1)
            .map(|_| {
                let gate = Arc::clone(&gate);
                rt.spawn(move || gate.wait())
            })
            .collect();
        // One stack is left, so tasks that do not block still run.
        let others: Vec<_> = (0..50u64).map(|i| rt.spawn(move || i)).collect();
        let sum: u64 = others.into_iter().map(|h| h.join().expect("ran")).sum();
        assert_eq!(sum, 1225);
        gate.set();
        waiting.into_iter().for_each(|h| h.join().expect("woken"));
        rt.shutdown().expect("an orderly end");
    }
}

#[test]
fn spawns_fail_when_no_stack_can_ever_come_free() {
    if strict() {
        // There it has a thread beyond the limit.
        return;
    }
    let rt = builder().workers(1).max_stacks(1).build().expect("built");
    let event = Arc::new(Event::new());
    let inner = Arc::clone(&event);
    let waits = rt.spawn(move || inner.wait());
    let setter = Arc::clone(&event);
    let never = rt.spawn(move || setter.set());
    assert!(matches!(never.join(), Err(JoinError::OutOfStacks)));
    event.set();
    waits.join().expect("set from outside");
    assert_eq!(rt.spawn(|| 1).join().expect("the runtime goes on"), 1);
    assert_eq!(rt.metrics().total().out_of_stacks, 1);
    rt.shutdown().expect("an orderly end");
}

#[test]
fn a_ready_task_is_not_starved_by_a_computing_one() {
    common::a_fiber_runs_during(|| assert_eq!(fib(12), 144));
}

#[test]
fn a_shutdown_waits_for_blocked_tasks() {
    at_all_counts(|rt| {
        let event = Arc::new(Event::new());
        let inner = Arc::clone(&event);
        let handle = rt.spawn(move || inner.wait());
        std::thread::scope(|threads| {
            let ending = threads.spawn(|| rt.shutdown());
            while rt.spawn(|| {}).join().is_ok() {
                std::thread::yield_now();
            }
            assert!(!handle.is_finished() && !ending.is_finished());
            event.set();
            ending.join().expect("no panic").expect("all done");
        });
        handle.join().expect("woken before the end");
    });
}

#[test]
fn everything_at_once_conserves() {
    at_all_counts(|rt| {
        let lock = Mutex::new(());
        let count = AtomicUsize::new(0);
        par_for_in(rt, 300, |i| {
            let event = Event::new();
            join(
                || {
                    event.wait();
                    count.fetch_add(1, SeqCst);
                },
                || {
                    let _guard = lock.lock();
                    let handle = spawn(move || fib((i % 10) as u32));
                    event.set();
                    handle.join().expect("a number");
                    count.fetch_add(1, SeqCst);
                },
            );
        });
        assert_eq!(count.load(SeqCst), 600);
    });
}

/// The limit that the guide states on its first page, and that a strict runtime does not have. Two
/// tasks of a worker keep a stack in a thread-local, and wait in between. They leave in another
/// order than they entered.
#[test]
fn thread_locals_that_nest_and_tasks_that_wait() {
    thread_local! {
        static ENTERED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    }
    fn enter(me: u32, wait: &Event, then: &Event) -> Option<u32> {
        ENTERED.with(|e| e.borrow_mut().push(me));
        then.set();
        wait.wait();
        ENTERED.with(|e| e.borrow_mut().pop())
    }
    with_runtime(1, |rt| {
        let (second_entered, first_left, never) = (Event::new(), Event::new(), Event::new());
        let (first, second) = rt.install(|| {
            join(
                || {
                    let popped = enter(1, &second_entered, &never);
                    first_left.set();
                    popped
                },
                || enter(2, &first_left, &second_entered),
            )
        });
        if strict() {
            assert_eq!((first, second), (Some(1), Some(2)), "each has a thread");
        } else {
            assert_eq!((first, second), (Some(2), Some(1)), "each finds the other's entry");
        }
    });
}

/// A plain thread-local and a value that is not `Send` may rely on this.
#[test]
fn a_started_task_never_changes_its_thread() {
    at_all_counts(|rt| {
        rt.install(|| {
            par_for(0..100, |_| {
                let here = std::rc::Rc::new(std::thread::current().id());
                let event = Event::new();
                join(|| event.wait(), || event.set());
                assert_eq!(*here, std::thread::current().id());
            });
        });
    });
}
