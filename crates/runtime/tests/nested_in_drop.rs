//! Nested work of a destructor, in a task that unwinds or whose future is dropped. Its branches run
//! on other workers, and end there as they would in a task that was not cancelled.

mod common;

use common::with_runtime;
use sateen_runtime::{
    JoinError, Runtime, fork, join, par_for, poll_requests, scope, sleep, timeout, yield_now,
};
use sateen_sync::Event;
use sateen_testkit::Watchdog;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// Calls a closure when it is dropped.
struct OnDrop<F: FnMut()>(F);
impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Two pieces of work. The second is taken by another worker, and the first waits for it.
#[derive(Default)]
struct Pieces {
    begun: AtomicBool,
    /// The second surely runs elsewhere.
    is_apart: AtomicBool,
    go: Event,
    over: Event,
    ended: AtomicUsize,
}

impl Pieces {
    fn first(&self) {
        while !self.begun.load(SeqCst) {
            std::thread::yield_now();
            poll_requests();
        }
        self.over.wait();
        self.ended.fetch_add(1, SeqCst);
    }

    /// Has cancellation points.
    fn second(&self) {
        self.begun.store(true, SeqCst);
        for _ in 0..10 {
            yield_now();
        }
        self.go.wait();
        sleep(Duration::from_micros(10));
        if self.is_apart.load(SeqCst) {
            // (Where the destructor itself waits, nothing can interrupt it.)
            assert!(timeout(Duration::from_micros(10), || Event::new().wait()).is_err());
        }
        self.over.set();
        self.ended.fetch_add(1, SeqCst);
    }
}

impl Pieces {
    fn apart(&self) -> &Self {
        self.is_apart.store(true, SeqCst);
        self
    }
}

type Way = fn(&Pieces);

/// The ways to have branches.
const WAYS: [(&str, Way); 5] = [
    ("join", |pieces| _ = join(|| pieces.apart().first(), || pieces.second())),
    ("fork", |pieces| {
        let branches: [Box<dyn FnOnce() + Send>; 2] =
            [Box::new(|| pieces.apart().first()), Box::new(|| pieces.second())];
        fork(branches).into_iter().for_each(drop);
    }),
    ("scope", |pieces| {
        scope(|s| {
            s.spawn(|_| pieces.second());
            pieces.first();
        });
    }),
    ("scope of jobs", |pieces| {
        scope(|s| {
            s.spawn(|_| pieces.first());
            s.spawn(|_| pieces.second());
        });
    }),
    ("loop", |pieces| {
        par_for(0..2, |i| if i == 0 { pieces.first() } else { pieces.second() });
    }),
];

/// Spawns a task by `spawn` with what its destructor does. It is cancelled while the pieces run.
fn in_each_way(spawn: impl Fn(&Runtime, Arc<Pieces>, Way, Arc<Event>)) {
    for workers in [2, 3, 8] {
        for (name, way) in WAYS {
            let _watchdog = Watchdog::new(name);
            with_runtime(workers, |rt| {
                for _ in 0..20 {
                    let pieces = Arc::<Pieces>::default();
                    spawn(rt, pieces.clone(), way, Arc::new(Event::new()));
                    assert_eq!(pieces.ended.load(SeqCst), 2, "{name}: both have ended");
                }
            });
        }
    }
}

#[test]
fn of_a_task_that_was_cancelled() {
    in_each_way(|rt, pieces, way, begun| {
        let task = rt.spawn({
            let (pieces, begun) = (pieces.clone(), begun.clone());
            move || {
                let _on_drop = OnDrop(|| way(&pieces));
                begun.set();
                Event::new().wait();
            }
        });
        begun.wait();
        task.cancel();
        pieces.go.set();
        assert!(matches!(task.join(), Err(JoinError::Cancelled)));
    });
}

/// The cancellation comes while the task unwinds for another reason.
#[test]
fn of_a_task_that_panicked() {
    in_each_way(|rt, pieces, way, _| {
        let task = rt.spawn({
            let pieces = pieces.clone();
            move || {
                let _on_drop = OnDrop(|| way(&pieces));
                resume_unwind(Box::new("a panic"));
            }
        });
        while !pieces.begun.load(SeqCst) {
            std::thread::yield_now();
        }
        task.cancel();
        pieces.go.set();
        assert!(matches!(task.join(), Err(JoinError::Panicked(_))));
    });
}

/// A cancelled future is dropped without an unwinding.
#[test]
fn of_a_future_that_was_cancelled() {
    in_each_way(|rt, pieces, way, begun| {
        let task = rt.spawn_async({
            let (pieces, begun) = (pieces.clone(), begun.clone());
            async move {
                let _on_drop = OnDrop(|| way(&pieces));
                begun.set();
                std::future::pending::<()>().await;
            }
        });
        begun.wait();
        task.cancel();
        pieces.go.set();
        assert!(matches!(task.join(), Err(JoinError::Cancelled)));
    });
}

/// Outside of destructors, a branch that waits for ever ends as soon as its joiner waits for it. So
/// does what it has left to others in turn.
#[test]
fn branches_are_cancelled_when_their_joiners_come() {
    let _watchdog = Watchdog::new("branches that are cancelled");
    with_runtime(4, |rt| {
        for _ in 0..50 {
            let waiting = Arc::new(AtomicUsize::new(0));
            let ends = Arc::new(AtomicBool::new(false));
            let task = rt.spawn({
                let (waiting, ends) = (waiting.clone(), ends.clone());
                move || {
                    let until = |done: &dyn Fn() -> bool| {
                        while !done() {
                            std::thread::yield_now();
                            poll_requests();
                        }
                    };
                    let waits = || {
                        waiting.fetch_add(1, SeqCst);
                        Event::new().wait();
                    };
                    join(
                        || until(&|| ends.load(SeqCst)),
                        || {
                            join(
                                || {
                                    until(&|| waiting.load(SeqCst) == 1);
                                    waits();
                                },
                                waits,
                            )
                        },
                    );
                }
            });
            while waiting.load(SeqCst) < 2 {
                std::thread::yield_now();
            }
            task.cancel();
            ends.store(true, SeqCst);
            assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        }
    });
}
