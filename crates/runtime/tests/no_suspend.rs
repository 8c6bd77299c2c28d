//! Waits that keep the worker's thread.

mod common;

use common::{fib, with_runtime};
use sateen_runtime::{
    JoinError, Runtime, has_ready_work, join, no_suspend, par_for, policy, spawn, worker_index,
    yield_now,
};
use sateen_sync::Event;
use sateen_sync::timer::{sleep, sleep_async};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

thread_local! {
    static ENTERED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Sets a number, calls `f` and restores the number.
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
fn a_substitute_takes_over_and_retires() {
    for strict in [false, true] {
        let rt = Runtime::builder().workers(1).strict(strict).build().expect("a runtime");
        for _ in 0..30 {
            // The blocked worker waits for one of its own branches, and for one of its own tasks.
            let event = Arc::new(Event::new());
            rt.install(|| join(|| no_suspend(|| event.wait()), || event.set()));
            let (second, inner) = (Arc::new(Event::new()), Arc::clone(&event));
            event.reset();
            let set = Arc::clone(&second);
            rt.install(move || {
                drop(spawn(move || set.set()));
                no_suspend(|| second.wait());
                inner.set();
            });
        }
        // Where tasks own their threads, one that is about to retire takes over from nobody.
        let at_most = if strict { 16 } else { 2 };
        let threads = rt.metrics().workers.len();
        assert!(rt.workers() == 1 && (2..=at_most).contains(&threads), "{threads} threads");
        rt.shutdown().expect("an orderly end");
    }
}

#[test]
fn what_a_substitute_began_ends_there() {
    with_runtime(1, |rt| {
        for _ in 0..20 {
            let (begun, go) = (Arc::new(Event::new()), Arc::new(Event::new()));
            let (task, blocked) = rt.install(|| {
                let (tell, wait) = (Arc::clone(&begun), Arc::clone(&go));
                let task = spawn(move || {
                    let there = thread::current().id();
                    tell.set();
                    wait.wait();
                    sleep(Duration::from_micros(100));
                    assert_eq!(there, thread::current().id());
                    worker_index()
                });
                no_suspend(|| begun.wait());
                (task, worker_index())
            });
            // The blocked worker goes on while its substitute has a suspended task.
            assert_eq!(rt.install(|| fib(5)), 5);
            go.set();
            let there = task.join().expect("ran");
            assert!(there.is_some() && there != blocked);
        }
    });
}

#[test]
fn a_runtime_ends_with_a_worker_blocked() {
    for workers in [1, 2] {
        with_runtime(workers, |rt| {
            for _ in 0..5 {
                rt.spawn(|| no_suspend(|| sleep(Duration::from_millis(3)))).join().expect("ran");
            }
            drop(rt.spawn(|| {
                no_suspend(|| sleep(Duration::from_millis(3)));
                drop(spawn(|| no_suspend(|| sleep(Duration::from_millis(3)))));
            }));
        });
    }
}

#[test]
fn no_more_substitutes_than_allowed() {
    let rt = Runtime::builder().workers(1).substitutes(0).build().expect("a runtime");
    let other = rt.install(|| {
        let other = spawn(|| ());
        no_suspend(|| sleep(Duration::from_millis(3)));
        assert!(!other.is_finished());
        other
    });
    other.join().expect("ran later");
    assert_eq!(rt.metrics().workers.len(), 1);
    let rt = Runtime::builder().workers(1).substitutes(2).build().expect("a runtime");
    let tasks: Vec<_> =
        (0..10).map(|_| rt.spawn(|| no_suspend(|| sleep(Duration::from_millis(1))))).collect();
    tasks.into_iter().for_each(|task| task.join().expect("ran"));
    assert!(rt.metrics().workers.len() <= 3);
}

#[test]
fn work_goes_on_while_workers_come_and_go() {
    for policy in [policy::work_stealing, policy::work_sharing] {
        let rt = Runtime::builder().workers(2).policy(policy()).build().expect("a runtime");
        let sum = AtomicUsize::new(0);
        rt.install(|| {
            par_for(0..400, |i| {
                if i % 4 == 0 {
                    no_suspend(|| sleep(Duration::from_micros(50)));
                }
                let task = spawn(|| fib(5) as usize);
                yield_now();
                let (a, b) = join(|| fib(4), || fib(3));
                sum.fetch_add(task.join().expect("ran") + (a + b) as usize, SeqCst);
            });
        });
        assert_eq!(sum.load(SeqCst), 400 * 10);
        rt.shutdown().expect("an orderly end");
    }
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
        // A timer was armed before, for a task that is suspended on the same worker.
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
                    assert!(!other.is_finished() && has_ready_work());
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
    assert!(!has_ready_work());
}
