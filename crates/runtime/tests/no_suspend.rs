//! Waits that keep the worker's thread.

mod common;

use common::{fib, with_runtime};
use sateen_runtime::{JoinError, has_ready, join, no_suspend, par_for, spawn, yield_now};
use sateen_sync::Event;
use sateen_sync::timer::{sleep, sleep_async};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

thread_local! {
    static ENTERED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Sets, calls, restores.
fn within(number: usize, f: impl FnOnce()) {
    ENTERED.with_borrow_mut(|entered| entered.push(number));
    f();
    assert_eq!(ENTERED.with_borrow_mut(Vec::pop), Some(number));
}

#[test]
fn thread_locals_may_nest_around_waits() {
    for workers in [2, 4] {
        with_runtime(workers, |rt| {
            rt.install(|| {
                par_for(0..50, |i| {
                    no_suspend(|| {
                        within(i, || {
                            sleep(Duration::from_micros(100));
                        });
                    });
                });
            });
        });
    }
}

#[test]
fn locks_of_std_may_be_held_across_waits() {
    with_runtime(2, |rt| {
        let lock = std::sync::Mutex::new(0);
        rt.install(|| {
            par_for(0..20, |_| {
                no_suspend(|| {
                    let mut guard = lock.lock().expect("no panic");
                    let deadline = Instant::now() + Duration::from_micros(200);
                    sateen_sync::park::park_until(deadline);
                    *guard += 1;
                });
            });
        });
        assert_eq!(lock.into_inner().expect("no panic"), 20);
    });
}

#[test]
fn the_blocked_workers_tasks_and_branches_are_taken_by_others() {
    with_runtime(2, |rt| {
        let (all, ran) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
        let step = {
            let (all, ran) = (Arc::clone(&all), Arc::clone(&ran));
            move || {
                if ran.fetch_add(1, SeqCst) + 1 == 11 {
                    all.set();
                }
            }
        };
        rt.install(|| {
            for _ in 0..10 {
                drop(spawn(step.clone()));
            }
            join(|| no_suspend(|| all.wait()), step);
        });
        assert_eq!(ran.load(SeqCst), 11);
    });
}

#[test]
fn one_worker_alone_keeps_its_time() {
    with_runtime(1, |rt| {
        rt.install(|| {
            let begun = Instant::now();
            no_suspend(|| sleep(Duration::from_millis(5)));
            assert!(begun.elapsed() >= Duration::from_millis(5));
            no_suspend(|| sateen_sync::block_on(sleep_async(Duration::from_millis(5))));
        });
        // A timer that was armed before, for a task that is suspended on the same worker.
        let sleeper = rt.spawn(|| sleep(Duration::from_millis(1)));
        rt.install(|| {
            no_suspend(|| sleep(Duration::from_millis(20)));
        });
        sleeper.join().expect("woken");
    });
}

#[test]
fn nothing_else_runs_on_the_thread() {
    with_runtime(1, |rt| {
        rt.install(|| {
            let other = spawn(|| within(7, || ()));
            no_suspend(|| {
                within(1, || {
                    no_suspend(yield_now);
                    yield_now();
                    assert!(!other.is_finished() && has_ready());
                });
            });
            yield_now();
            assert!(other.is_finished());
            other.join().expect("ran");
        });
    });
}

#[test]
fn a_cancelled_task_leaves_its_wait() {
    with_runtime(1, |rt| {
        let begun = Arc::new(Event::new());
        let task = rt.spawn({
            let begun = Arc::clone(&begun);
            move || {
                no_suspend(|| {
                    begun.set();
                    Event::new().wait();
                });
            }
        });
        begun.wait();
        task.cancel();
        assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        // The next task on the same stack is suspended as usual.
        let event = Event::new();
        rt.install(|| join(|| event.wait(), || event.set()));
    });
}

#[test]
fn joins_inside_wait_too() {
    with_runtime(3, |rt| {
        for _ in 0..20 {
            assert_eq!(rt.install(|| no_suspend(|| fib(15))), 610);
            let value = rt.install(|| no_suspend(|| spawn(|| fib(10)).join().expect("a number")));
            assert_eq!(value, 55);
        }
    });
}

#[test]
fn outside_of_tasks_it_is_a_plain_call() {
    assert_eq!(no_suspend(|| 1 + 1), 2);
    assert!(!has_ready());
}
