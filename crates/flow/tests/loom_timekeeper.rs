//! Models of waiting for items that come again: one of the sleepers keeps the time.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_base::prim::Ordering::{Acquire, Relaxed, Release};
use sateen_base::prim::searched::{AtomicBool, AtomicU32};
use sateen_base::prim::time::{Duration, Instant};
use sateen_flow::timekeeper::Timekeeper;
use sateen_sync::WaitPoint;
use sateen_testkit::model;

/// One item that comes again, some new ones, and the workers that handle them.
struct Crew {
    sleepers: WaitPoint,
    time: Timekeeper,
    /// Whether the time has come. It comes only if a sleeper kept the time up to the end of its
    /// sleep.
    due: AtomicBool,
    new: AtomicU32,
    handled: AtomicBool,
}

impl Crew {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            sleepers: WaitPoint::asymmetric(),
            time: Timekeeper::new(),
            due: AtomicBool::new(false),
            new: AtomicU32::new(0),
            handled: AtomicBool::new(false),
        })
    }

    /// Does what a handler does that asks for its item again.
    fn again(&self) {
        self.time.set_earliest(Some(1));
        self.sleepers.notify_one();
    }

    fn send(&self) {
        self.new.fetch_add(1, Release);
        self.sleepers.notify_one();
    }

    fn take_new(&self) -> bool {
        self.new.fetch_update(Acquire, Relaxed, |new| new.checked_sub(1)).is_ok()
    }

    /// Works as a worker does. It ends when it gets a new item, whose handler never returns, or
    /// when the item that comes again was handled.
    fn work(&self) {
        while !self.handled.load(Acquire) {
            if self.take_new() {
                return self.time.pass_on(&self.sleepers);
            }
            if self.due.load(Acquire) && self.time.earliest().is_some() {
                self.time.set_earliest(None);
                self.handled.store(true, Release);
                return self.sleepers.notify_all();
            }
            let keeper = self.time.keep();
            // Under loom a time limit has passed as soon as a thread looks.
            let deadline = keeper.as_ref().map(|_| Instant::now() + Duration::from_secs(1));
            self.sleepers.wait(deadline, || {
                let awake = self.new.load(Relaxed) > 0 || self.handled.load(Relaxed);
                awake || self.due.load(Relaxed) || self.time.needs_keeper()
            });
            // If there is a new item, this worker was told of that, and its time limit has not
            // passed.
            if keeper.is_some() && self.new.load(Relaxed) == 0 {
                self.due.store(true, Release);
            }
            drop(keeper);
            if self.new.load(Relaxed) > 0 {
                self.time.pass_on(&self.sleepers);
            }
        }
    }
}

/// A worker sleeps, and an item is to come again. If no worker keeps the time, that is a deadlock.
#[test]
fn an_item_that_comes_again_is_waited_for() {
    model(3, || {
        let crew = Crew::new();
        let worker = thread::spawn({
            let crew = Arc::clone(&crew);
            move || crew.work()
        });
        crew.again();
        worker.join().unwrap();
        assert!(crew.handled.load(Relaxed));
    });
}

/// The keeper gets a new item that blocks it for ever. From then on the other worker keeps the
/// time.
#[test]
fn the_time_is_passed_on() {
    model(2, || {
        let crew = Crew::new();
        crew.again();
        let workers = [0, 1].map(|_| {
            let crew = Arc::clone(&crew);
            thread::spawn(move || crew.work())
        });
        crew.send();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(crew.handled.load(Relaxed));
    });
}
