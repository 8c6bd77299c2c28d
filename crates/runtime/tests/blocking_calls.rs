//! `blocking`: closures that block their thread run on threads that may be blocked.

mod common;

use common::{at_all_counts, with_runtime};
use sateen_runtime::{JoinError, Runtime, blocking, join, scope, spawn, yield_now};
use sateen_testkit::{Watchdog, message, until};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

fn limited(workers: usize, threads: usize) -> Runtime {
    Runtime::builder().workers(workers).blocking_threads(threads).build().expect("a runtime")
}

#[test]
fn it_runs_elsewhere_and_borrows() {
    at_all_counts(|rt| {
        rt.install(|| {
            let mut data = vec![3, 1, 2];
            let here = thread::current().id();
            let there = blocking(|| {
                data.sort_unstable();
                thread::current().id()
            });
            assert_ne!(there, here);
            assert_eq!(data, [1, 2, 3]);
            // A nested call is a plain call.
            let (a, b) = blocking(|| (thread::current().id(), blocking(|| thread::current().id())));
            assert_eq!(a, b);
        });
    });
    let here = thread::current().id();
    assert_eq!(blocking(|| thread::current().id()), here);
}

#[test]
fn the_worker_goes_on() {
    with_runtime(1, |rt| {
        // The closure waits for a task of the only worker.
        let (send, receive) = mpsc::channel();
        let waits = rt.spawn(move || blocking(move || receive.recv().unwrap()));
        let sends = rt.spawn(move || send.send(42).unwrap());
        assert_eq!(waits.join().unwrap(), 42);
        sends.join().unwrap();
    });
}

#[test]
fn a_thousand_callers_and_few_threads() {
    for workers in [1, 2, 3, 8] {
        for threads in [0, 1, 4] {
            let rt = limited(workers, threads);
            let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let seen = Mutex::new(HashSet::<ThreadId>::new());
            rt.install(|| {
                scope(|s| {
                    for i in 0..1000 {
                        let (now, most, seen) = (&now, &most, &seen);
                        s.spawn(move |_| {
                            let result = blocking(|| {
                                most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                                seen.lock().unwrap().insert(thread::current().id());
                                now.fetch_sub(1, SeqCst);
                                i * 2
                            });
                            assert_eq!(result, i * 2);
                        });
                    }
                });
            });
            // With no threads for blocking calls, the callers run the closures themselves.
            let limit = if threads == 0 { workers } else { threads };
            assert!(most.into_inner() <= limit, "{workers} workers, {threads} threads");
            assert!(seen.into_inner().unwrap().len() <= limit);
            assert!(rt.metrics().blocking_threads <= threads);
        }
    }
}

#[test]
fn it_grows_as_far_as_needed() {
    with_runtime(2, |rt| {
        // All callers must be inside at once.
        let barrier = Barrier::new(20);
        rt.install(|| {
            scope(|s| (0..20).for_each(|_| s.spawn(|_| _ = blocking(|| barrier.wait()))))
        });
        assert_eq!(rt.metrics().blocking_threads, 20);
    });
}

/// Callers that wait for each other, among calls that end at once: none is left without a thread,
/// whichever thread was just being started.
#[test]
fn no_call_is_left_behind_in_a_burst() {
    let _watchdog = Watchdog::new("a call got no thread");
    for round in 0..100 {
        let waiting = 1 + round % 7;
        with_runtime(2, |rt| {
            let barrier = Barrier::new(waiting);
            rt.install(|| {
                scope(|s| {
                    for call in 0..4 * waiting {
                        let waits = (call + round).is_multiple_of(4);
                        s.spawn(|_| blocking(|| ()));
                        if waits {
                            s.spawn(|_| _ = blocking(|| barrier.wait()));
                        }
                    }
                });
            });
        });
    }
}

#[test]
fn idle_threads_end() {
    let keep = Duration::from_millis(5);
    let rt = Runtime::builder().workers(1).blocking_keep_alive(keep).build().unwrap();
    rt.install(|| blocking(|| ()));
    until(|| rt.metrics().blocking_threads == 0);
    assert_eq!(rt.install(|| blocking(|| 1)), 1);
}

/// A thread that would stay idle for ever learns of the next call.
#[test]
fn an_idle_thread_takes_the_next_call() {
    let _watchdog = Watchdog::new("an idle thread was not told of a call");
    let rt = Runtime::builder().workers(1).blocking_keep_alive(Duration::MAX).build().unwrap();
    rt.install(|| (0..100).for_each(|i| assert_eq!(blocking(|| i), i)));
}

#[test]
fn panics_travel_back() {
    at_all_counts(|rt| {
        rt.install(|| {
            let caught = catch_unwind(AssertUnwindSafe(|| blocking(|| panic!("inside"))));
            assert_eq!(message(caught.unwrap_err()), "inside");
            assert_eq!(blocking(|| 1), 1);
        });
        let task: Result<(), JoinError> = rt.spawn(|| blocking(|| panic!("far"))).join();
        assert_eq!(message(task.unwrap_err().try_into_panic().unwrap()), "far");
    });
}

#[test]
fn cancelled_it_waits_until_the_borrow_ends() {
    at_all_counts(|rt| {
        let gates = Arc::new((Barrier::new(2), Barrier::new(2)));
        let inside = Arc::clone(&gates);
        let task = rt.spawn(move || {
            let mut data = [0; 64];
            blocking(|| {
                inside.0.wait();
                inside.1.wait();
                data[63] = 1;
            });
            assert_eq!(data[63], 1);
            yield_now();
        });
        gates.0.wait();
        task.cancel();
        assert!(!task.is_finished(), "it left while its frame was borrowed");
        gates.1.wait();
        assert!(matches!(task.join(), Err(JoinError::Cancelled)));
    });
}

#[test]
fn in_branches_and_futures() {
    at_all_counts(|rt| {
        let (a, b) = rt.install(|| join(|| blocking(|| 1), || blocking(|| 2)));
        assert_eq!(a + b, 3);
        let task =
            rt.spawn_async(async { blocking(|| 3) + spawn(|| blocking(|| 4)).await.unwrap() });
        assert_eq!(task.join().unwrap(), 7);
    });
}
