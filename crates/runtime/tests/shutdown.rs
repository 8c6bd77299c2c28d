//! Shutdowns that do not wait for ever: what is cancelled, what remains, and how it is reported.

mod common;

use common::WORKERS;
use sateen_runtime::{
    FiberState, JoinError, RemainingFiber, Runtime, ShutdownError, Spawn, WhyRemaining,
    check_cancelled, join, scope, spawn, yield_now,
};
use sateen_sync::Event;
use sateen_sync::park::{self, Blocker, ThreadParker};
use sateen_testkit::waker_fn;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::Waker;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_millis(20);

fn at_all_counts(f: impl Fn(Runtime)) {
    for workers in WORKERS {
        f(Runtime::builder().workers(workers).build().expect("a runtime"));
    }
}

/// The fibers that a shutdown leaves, by name.
fn left(rt: &Runtime) -> (usize, Vec<RemainingFiber>) {
    match rt.shutdown_timeout(SOON) {
        Err(ShutdownError::TimedOut { ended, workers, remaining, stacks, .. }) => {
            assert!(ended < workers);
            (stacks, remaining)
        }
        other => panic!("not all can end, but {other:?}"),
    }
}

fn why(remaining: &[RemainingFiber], name: &str) -> WhyRemaining {
    let is = |r: &&RemainingFiber| r.fiber.name.as_deref() == Some(name);
    remaining.iter().find(is).unwrap_or_else(|| panic!("no {name:?} in {remaining:?}")).why
}

/// Waits until this many fibers wait.
fn all_wait(rt: &Runtime, count: usize) {
    let waits = || rt.fibers().iter().filter(|f| f.state == FiberState::Waiting).count();
    while waits() != count {
        std::thread::yield_now();
    }
}

/// Wakes the waiting tasks if the test fails early. Otherwise the test would hang.
struct LetGo<'a>(&'a Event);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Drops the runtime and waits until its workers have ended.
fn end(rt: Runtime) {
    rt.shutdown().expect("not its own worker");
}

#[test]
fn blocked_tasks_are_cancelled_and_destructors_run() {
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    at_all_counts(|rt| {
        let (event, dropped) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let (event, counts) = (Arc::clone(&event), Counts(Arc::clone(&dropped)));
                rt.spawn(move || {
                    let _counts = counts;
                    // Nested work is cancelled with its task, and the task waits for it.
                    scope(|s| {
                        s.spawn(|_| event.wait());
                        join(|| event.wait(), || event.wait());
                    });
                })
            })
            .collect();
        assert_eq!(rt.shutdown_timeout(SOON), Ok(()));
        assert_eq!(dropped.load(SeqCst), 100);
        for task in tasks {
            assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        }
        assert_eq!(rt.shutdown_timeout(Duration::ZERO), Ok(()));
    });
}

#[test]
fn those_that_look_and_those_that_have_not_started_end_too() {
    at_all_counts(|rt| {
        let looks = rt.spawn(|| while check_cancelled().is_ok() {});
        let yields = rt.spawn(|| {
            loop {
                yield_now();
            }
        });
        // There is one for each worker, so that none is left for the others.
        let busy: Vec<_> =
            (0..rt.workers()).map(|_| rt.spawn(|| while check_cancelled().is_ok() {})).collect();
        let ran = Arc::new(AtomicUsize::new(0));
        let inner = Arc::clone(&ran);
        let late = rt.spawn_with(Spawn::new().on_worker(0), move || inner.fetch_add(1, SeqCst));
        assert_eq!(rt.shutdown_timeout(SOON), Ok(()));
        drop((looks, busy));
        assert!(matches!(yields.join(), Err::<(), _>(JoinError::Cancelled)));
        match late.join() {
            Ok(_) => assert_eq!(ran.load(SeqCst), 1),
            Err(error) => assert!(matches!(error, JoinError::Cancelled)),
        }
    });
}

#[test]
fn what_remains_is_named_with_its_reason() {
    at_all_counts(|rt| {
        let event = Arc::new(Event::new());
        let inner = Arc::clone(&event);
        let masked = rt.spawn_with(Spawn::new().name("masked"), move || {
            park::uninterrupted(|| inner.wait());
            check_cancelled().is_err()
        });
        let inner = Arc::clone(&event);
        let nested = rt.spawn_with(Spawn::new().name("nested"), move || {
            let begun = Event::new();
            scope(|s| {
                s.spawn(|_| {
                    begun.set();
                    park::uninterrupted(|| inner.wait());
                });
                // Another worker must begin this one, or it would run in the scope's place.
                begun.wait();
            });
        });
        let inner = Arc::clone(&event);
        let resists = rt.spawn_with(Spawn::new().name("resists"), move || {
            let wait = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| inner.wait()));
            while wait().is_err() {
                // Without this wait it would be a loop that only computes.
                park::uninterrupted(|| inner.wait());
            }
        });
        let inner = Arc::clone(&event);
        let plain = rt.spawn(move || inner.wait());
        std::thread::scope(|threads| {
            let (tell, told) = mpsc::channel();
            let (rt, inner) = (&rt, &event);
            let outside = threads.spawn(move || {
                rt.install(|| {
                    tell.send(()).expect("heard");
                    inner.wait();
                });
            });
            told.recv().expect("told");
            all_wait(rt, 6);
            let _let_go = LetGo(inner);
            // Tasks that can end take as long as they need for it.
            let (stacks, remaining) = loop {
                let (stacks, remaining) = left(rt);
                use WhyRemaining::{Queued, Resists, Running};
                if !remaining.iter().any(|r| matches!(r.why, Queued | Resists | Running)) {
                    break (stacks, remaining);
                }
            };
            assert!(matches!(plain.join(), Err(JoinError::Cancelled)));
            assert_eq!(why(&remaining, "masked"), WhyRemaining::Masked);
            let of_nested = remaining.iter().filter(|r| r.fiber.task == Some(nested.id()));
            let mut reasons: Vec<_> = of_nested.map(|r| r.why.to_string()).collect();
            reasons.sort();
            assert_eq!(reasons, ["uninterrupted", "waiting for nested work"], "{remaining:?}");
            assert_eq!(why(&remaining, "resists"), WhyRemaining::Masked);
            let no_task = remaining.iter().filter(|r| r.fiber.task.is_none());
            assert!(no_task.map(|r| r.why).eq([WhyRemaining::NoTask]), "{remaining:?}");
            assert_eq!((stacks, remaining.len()), (5, 5));
            let text = loop {
                let text = rt.shutdown_timeout(SOON).expect_err("the same").to_string();
                // Each shutdown makes the tasks look once more.
                if !text.contains("queued: ") && !text.contains("running: ") {
                    break text;
                }
            };
            assert!(text.contains("5 fibers remain on 5 stacks: "), "{text}");
            assert!(text.contains("uninterrupted: task "), "{text}");
            event.set();
            outside.join().expect("no panic");
        });
        assert!(masked.join().expect("woken"), "it was cancelled, and could not unwind");
        assert!(matches!(nested.join(), Err(JoinError::Cancelled)));
        resists.join().expect("woken");
        end(rt);
    });
}

#[test]
fn a_running_task_is_named_and_left_alone() {
    at_all_counts(|rt| {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let inner = Arc::clone(&stop);
        let runs = rt.spawn_with(Spawn::new().name("runs"), move || {
            tell.send(()).expect("heard");
            while !inner.load(SeqCst) {
                std::thread::yield_now();
            }
        });
        told.recv().expect("told");
        let (stacks, remaining) = left(&rt);
        assert_eq!((stacks, remaining.len()), (1, 1), "{remaining:?}");
        assert_eq!(remaining[0].why, WhyRemaining::Running);
        assert_eq!(remaining[0].fiber.id, runs.id().get());
        // Dropping does not wait, and the task still goes on.
        drop(rt);
        stop.store(true, SeqCst);
        runs.join().expect("it ended");
    });
}

#[test]
fn futures_that_wait_are_dropped() {
    at_all_counts(|rt| {
        let idle = rt.spawn_async(pending::<()>());
        assert_eq!(rt.shutdown_timeout(SOON), Ok(()));
        assert!(matches!(idle.join(), Err(JoinError::Cancelled)));
    });
}

#[test]
fn a_task_of_another_runtime_is_suspended_meanwhile() {
    let outer = Runtime::builder().workers(1).build().expect("a runtime");
    at_all_counts(|rt| {
        let event = Arc::new(Event::new());
        let inner = Arc::clone(&event);
        let masked = rt.spawn(move || park::uninterrupted(|| inner.wait()));
        let ended = outer.spawn(move || {
            let result = rt.shutdown_timeout(Duration::from_secs(60));
            (result, rt)
        });
        // The runtime has one worker, which has to be free for this.
        outer.spawn(move || event.set()).join().expect("ran");
        let (result, _rt) = ended.join().expect("no panic");
        assert_eq!(result, Ok(()));
        masked.join().expect("woken");
    });
}

#[test]
fn its_own_task_cannot_end_it() {
    at_all_counts(|rt| {
        let result = rt.install(|| rt.shutdown_timeout(SOON));
        assert_eq!(result, Err(ShutdownError::OnOwnWorker));
        assert_eq!(rt.spawn(|| 1).join().expect("nothing changed"), 1);
    });
}

#[test]
fn many_that_wait_for_each_other_end() {
    at_all_counts(|rt| {
        let begun = Instant::now();
        let event = Arc::new(Event::new());
        let tasks: Vec<_> = (0..1000)
            .map(|_| {
                let event = Arc::clone(&event);
                rt.spawn(move || {
                    let inner = Arc::clone(&event);
                    let child = spawn(move || inner.wait());
                    event.wait();
                    let _ = child.join();
                })
            })
            .collect();
        assert_eq!(rt.shutdown_timeout(SOON), Ok(()), "after {:?}", begun.elapsed());
        assert!(tasks.into_iter().all(|task| task.is_finished()));
    });
}

/// A context of the user's: a thread whose wakers wake it and then panic.
struct Bad {
    parker: Arc<ThreadParker>,
    /// How many such threads have parked, and the event that the second one sets.
    parked: Arc<(AtomicUsize, Event)>,
}

// SAFETY: the context parks until one of its wakers has woken it. The wakers may be kept for ever.
unsafe impl Blocker for Bad {
    fn waker(&self) -> Waker {
        let good = Waker::from(Arc::clone(&self.parker));
        waker_fn(move || {
            good.wake_by_ref();
            std::panic::resume_unwind(Box::new("meant to be"));
        })
    }

    fn park(&self) {
        if self.parked.0.fetch_add(1, SeqCst) == 1 {
            self.parked.1.set();
        }
        self.parker.park();
    }

    fn park_until(&self, deadline: Instant) {
        self.parker.park_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

/// Two contexts whose wakers panic wait for the end of a runtime. Both learn of it.
#[test]
fn wakers_that_panic_keep_no_end_from_being_told() {
    at_all_counts(|rt| {
        let parked = Arc::new((AtomicUsize::new(0), Event::new()));
        let both = Arc::clone(&parked);
        let task = rt.spawn(move || both.1.wait());
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let parked = Arc::clone(&parked);
                    let bad = Box::leak(Box::new(Bad { parker: Arc::default(), parked }));
                    // SAFETY: no wait is in progress.
                    unsafe { park::install(Some(bad)) };
                    rt.shutdown().unwrap();
                });
            }
        });
        task.join().unwrap();
    });
}
