//! Cancellation: which work ends, where it ends, and which work goes on.

mod common;

use common::{at_all_counts, with_runtime};
use sateen_runtime::{
    CancelToken, Cancelled, JoinError, Spawn, check_cancelled, fork, join, scope, spawn, yield_now,
};
use sateen_sync::oneshot::{self, RecvError};
use sateen_sync::{Event, Mutex, park};
use sateen_testkit::Watchdog;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

fn is_cancelled<T>(result: Result<T, JoinError>) -> bool {
    matches!(result, Err(JoinError::Cancelled))
}

#[test]
fn a_task_that_waits_unwinds_on_its_own_worker() {
    at_all_counts(|rt| {
        struct Notes(Arc<AtomicUsize>, Option<usize>);
        impl Drop for Notes {
            fn drop(&mut self) {
                assert_eq!(self.1, sateen_runtime::worker_index(), "unwound elsewhere");
                self.0.fetch_add(1, SeqCst);
            }
        }
        let (event, drops) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
        let waiting = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let (event, drops, waiting) = (event.clone(), drops.clone(), waiting.clone());
                rt.spawn(move || {
                    let _notes = Notes(drops, sateen_runtime::worker_index());
                    waiting.fetch_add(1, SeqCst);
                    event.wait();
                })
            })
            .collect();
        while waiting.load(SeqCst) < 50 {
            std::thread::yield_now();
        }
        // Some of the tasks wait, some are about to wait, and some have not started.
        tasks.iter().for_each(|task| task.cancel());
        tasks.iter().for_each(|task| task.cancel());
        let started = waiting.load(SeqCst);
        assert!(tasks.into_iter().all(|task| is_cancelled(task.join())));
        assert!(drops.load(SeqCst) >= started);
        assert_eq!(drops.load(SeqCst), waiting.load(SeqCst));
        event.set();
    });
}

#[test]
fn one_that_has_not_started_never_does() {
    with_runtime(1, |rt| {
        let ran = Arc::new(AtomicBool::new(false));
        rt.install(|| {
            let task = spawn({
                let ran = ran.clone();
                move || ran.store(true, SeqCst)
            });
            task.cancel();
            assert!(is_cancelled(task.join()));
        });
        assert!(!ran.load(SeqCst));
        assert_eq!(Arc::strong_count(&ran), 1, "the closure is dropped");
    });
}

#[test]
fn one_that_never_waits_runs_to_its_end() {
    at_all_counts(|rt| {
        let (started, go) = (Arc::new(Event::new()), Arc::new(AtomicBool::new(false)));
        let task = rt.spawn({
            let (started, go) = (started.clone(), go.clone());
            move || {
                started.set();
                while !go.load(SeqCst) {
                    std::hint::spin_loop();
                }
                check_cancelled()
            }
        });
        started.wait();
        task.cancel();
        go.store(true, SeqCst);
        assert_eq!(task.join().expect("it ran to its end"), Err(Cancelled));
    });
}

#[test]
fn stolen_branches_are_cancelled_with_their_task() {
    for workers in [2, 3, 8] {
        with_runtime(workers, |rt| {
            for _ in 0..20 {
                let (event, both) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
                let unwound = Arc::new(AtomicUsize::new(0));
                let task = rt.spawn({
                    let (event, both, unwound) = (event.clone(), both.clone(), unwound.clone());
                    move || {
                        let branch = || {
                            both.fetch_add(1, SeqCst);
                            let result = catch_unwind(AssertUnwindSafe(|| event.wait()));
                            unwound.fetch_add(usize::from(result.is_err()), SeqCst);
                        };
                        fork([branch, branch, branch]);
                    }
                });
                while both.load(SeqCst) < 3 {
                    std::thread::yield_now();
                }
                task.cancel();
                assert!(is_cancelled(task.join()), "a fork that waited unwinds afterwards");
                assert_eq!(unwound.load(SeqCst), 3);
            }
        });
    }
}

#[test]
fn join_and_scope_wait_for_what_they_started() {
    at_all_counts(|rt| {
        let done = Arc::new(AtomicUsize::new(0));
        let task = rt.spawn({
            let done = done.clone();
            move || {
                let count = || {
                    // The branch is masked, so it runs to its end.
                    park::uninterrupted(|| (0..10).for_each(|_| yield_now()));
                    done.fetch_add(1, SeqCst);
                };
                scope(|s| {
                    for _ in 0..10 {
                        s.spawn(|_| count());
                    }
                    join(count, count);
                });
                // However late the cancellation comes.
                loop {
                    yield_now();
                }
            }
        });
        task.cancel();
        let result = task.join();
        assert!(is_cancelled(result));
        assert!([0, 12].contains(&done.load(SeqCst)), "{done:?}");
    });
}

#[test]
fn locks_are_usable_after_a_cancelled_locker() {
    at_all_counts(|rt| {
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.lock();
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let mutex = mutex.clone();
                rt.spawn(move || *mutex.lock() += 1)
            })
            .collect();
        tasks.iter().step_by(2).for_each(|task| task.cancel());
        drop(guard);
        let ended: Vec<_> = tasks.into_iter().map(|task| task.join()).collect();
        let added = ended.iter().filter(|result| result.is_ok()).count();
        assert!(added >= 10);
        assert_eq!(*mutex.lock(), added);
    });
}

#[test]
fn tokens_cancel_their_tasks_and_their_childrens() {
    at_all_counts(|rt| {
        let parent = CancelToken::new();
        let child = parent.child();
        let event = Arc::new(Event::new());
        let wait = |token: &CancelToken| {
            let event = event.clone();
            rt.spawn_with(Spawn::new().token(token), move || event.wait())
        };
        let (a, b) = (wait(&parent), wait(&child));
        let c = rt.spawn({
            let event = event.clone();
            move || event.wait()
        });
        child.cancel();
        assert!(is_cancelled(b.join()));
        assert!(!parent.is_cancelled() && !a.is_finished());
        parent.cancel();
        parent.wait();
        assert!(is_cancelled(a.join()));
        assert!(is_cancelled(wait(&parent).join()), "too late to start");
        assert!(parent.child().is_cancelled());
        event.set();
        c.join().expect("it has no token");
    });
}

#[test]
fn nothing_is_cancelled_while_it_unwinds() {
    at_all_counts(|rt| {
        struct Waits(Arc<Event>, Arc<AtomicBool>);
        impl Drop for Waits {
            fn drop(&mut self) {
                self.0.wait();
                self.1.store(true, SeqCst);
            }
        }
        let (event, finished) = (Arc::new(Event::new()), Arc::new(AtomicBool::new(false)));
        let waiting = Arc::new(AtomicBool::new(false));
        let task = rt.spawn({
            let (event, finished, waiting) = (event.clone(), finished.clone(), waiting.clone());
            move || {
                let _waits = Waits(event, finished);
                waiting.store(true, SeqCst);
                std::panic::resume_unwind(Box::new("on its way"));
            }
        });
        while !waiting.load(SeqCst) {
            std::thread::yield_now();
        }
        task.cancel();
        // Another fiber of the same worker is cancelled meanwhile. It may have to wait until then,
        // but not longer.
        let other = Arc::new(Event::new());
        let others: Vec<_> = (0..rt.workers())
            .map(|i| {
                let other = other.clone();
                rt.spawn_with(Spawn::new().on_worker(i), move || other.wait())
            })
            .collect();
        others.iter().for_each(|task| task.cancel());
        event.set();
        assert!(matches!(task.join(), Err(JoinError::Panicked(_))));
        assert!(finished.load(SeqCst));
        assert!(others.into_iter().all(|task| is_cancelled(task.join())));
    });
}

#[test]
fn cancelling_from_many_threads_while_tasks_come_and_go() {
    at_all_counts(|rt| {
        let ended = AtomicUsize::new(0);
        std::thread::scope(|s| {
            for seed in 0..4u64 {
                let ended = &ended;
                s.spawn(move || {
                    let mutex = Arc::new(Mutex::new(()));
                    for i in 0..200 {
                        let mutex = mutex.clone();
                        let task = rt.spawn(move || {
                            for _ in 0..i % 5 {
                                let _guard = mutex.lock();
                                yield_now();
                            }
                        });
                        if (i * 7 + seed) % 3 == 0 {
                            std::thread::yield_now();
                        }
                        task.cancel();
                        let result = task.join();
                        assert!(matches!(result, Ok(()) | Err(JoinError::Cancelled)));
                        ended.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(ended.into_inner(), 800);
    });
}

/// The cancelled task does not go on. The task that waits for the value does not count as
/// cancelled.
#[test]
fn a_packaged_task_lets_the_cancelling_of_its_runner_through() {
    at_all_counts(|rt| {
        let (never, went_on) = (Arc::new(Event::new()), Arc::new(AtomicBool::new(false)));
        let begun = Arc::new(Event::new());
        let wait = (never.clone(), begun.clone());
        let (package, result) = oneshot::package(move || {
            wait.1.set();
            wait.0.wait();
        });
        let getter = rt.spawn(move || result.recv().map(|result| result.is_ok()));
        let runner = rt.spawn({
            let went_on = went_on.clone();
            move || {
                package();
                went_on.store(true, SeqCst);
            }
        });
        begun.wait();
        runner.cancel();
        assert!(is_cancelled(runner.join()));
        assert!(!went_on.load(SeqCst));
        assert_eq!(getter.join().expect("nobody cancelled it"), Err(RecvError));
    });
}

/// The joiner's mask does not extend to the task.
#[test]
fn a_task_is_cancelled_though_its_joiner_waits_uninterrupted() {
    let _dog = Watchdog::new("a task that an uninterrupted one joins");
    at_all_counts(|rt| {
        let (token, begun) = (CancelToken::new(), Arc::new(Event::new()));
        let (inner, tell) = (token.clone(), Arc::clone(&begun));
        let joiner = rt.spawn(move || {
            let task = Spawn::new().token(&inner).spawn(move || {
                tell.set();
                Event::new().wait();
            });
            park::uninterrupted(|| is_cancelled(task.join()))
        });
        begun.wait();
        token.cancel();
        assert!(joiner.join().expect("done"));
    });
}
