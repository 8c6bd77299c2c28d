//! Models of a runtime without free stacks. No task is refused that a worker with a stack could
//! start.
#![cfg(loom)]

use loom::sync::atomic::Ordering::{Relaxed, SeqCst};
use loom::sync::atomic::{AtomicUsize, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;
use sateen_runtime::models::sleepers::Sleepers;
use sateen_runtime::models::stall::{Rest, Stall};
use sateen_testkit::model;

/// Worker 0 has no stack. The others have one or get one.
struct Crew {
    sleep: Sleepers,
    stall: Stall,
    /// The task that worker 0 puts aside.
    aside: Mutex<usize>,
    /// The same count as `Aside::count`.
    count: AtomicUsize,
    done: AtomicUsize,
    workers: usize,
}

impl Crew {
    fn new(workers: usize) -> Arc<Self> {
        Arc::new(Self {
            sleep: Sleepers::new(workers, None),
            stall: Stall::new(workers),
            aside: Mutex::new(0),
            count: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            workers,
        })
    }

    fn put(&self) {
        let mut aside = self.aside.lock().unwrap();
        *aside += 1;
        self.count.store(*aside, Relaxed);
        fence(SeqCst);
    }

    fn take(&self) -> bool {
        if self.count.load(Relaxed) == 0 {
            return false;
        }
        let mut aside = self.aside.lock().unwrap();
        let taken = *aside > 0;
        *aside -= usize::from(taken);
        self.count.store(*aside, Relaxed);
        taken
    }

    /// Like `starve`: puts a task from outside aside, and refuses what is aside if all workers
    /// stand still.
    fn starve(&self) {
        self.put();
        self.sleep.wake_searcher();
        if self.stall.all_rest(|| self.sleep.announced(), || true) {
            assert!(!self.take(), "refused, though others have a stack");
        }
        self.stall.rests(Rest::Nap);
    }

    fn is_over(&self) -> bool {
        self.done.load(Relaxed) != 0
    }

    fn run(&self) {
        self.done.store(1, Relaxed);
        fence(SeqCst);
        (1..self.workers).for_each(|worker| _ = self.sleep.notify(worker));
    }

    /// Sleeps as `idle` does.
    fn sleep(&self, me: usize) {
        if self.sleep.announce(me, || self.count.load(Relaxed) != 0 || self.is_over()) {
            self.stall.rests(Rest::Sleep);
            self.sleep.sleep(me, None);
            self.stall.wakes(Rest::Sleep);
        }
    }

    fn work(&self, me: usize) {
        while !self.is_over() {
            if self.take() {
                return self.run();
            }
            self.sleep(me);
        }
    }

    /// Worker `me` has been asleep for a long time.
    fn begin_asleep(&self, me: usize) {
        assert!(self.sleep.announce(me, || false));
        self.stall.rests(Rest::Sleep);
    }

    fn go_on_asleep(&self, me: usize) {
        self.sleep.sleep(me, None);
        self.stall.wakes(Rest::Sleep);
        self.work(me);
    }
}

/// A worker that was woken for the task a moment ago still counts as resting.
#[test]
fn a_sleeper_that_was_notified_counts() {
    model(3, || {
        let crew = Crew::new(2);
        crew.begin_asleep(1);
        let sleeper = thread::spawn({
            let crew = Arc::clone(&crew);
            move || crew.go_on_asleep(1)
        });
        crew.starve();
        sleeper.join().unwrap();
    });
}

/// One worker wakes for the task. Meanwhile another one that has napped gets a stack and falls
/// asleep. It is not taken for the first.
#[test]
fn one_that_falls_asleep_does_not_stand_for_another() {
    model(2, || {
        let crew = Crew::new(3);
        crew.begin_asleep(1);
        crew.stall.rests(Rest::Nap);
        let sleeper = thread::spawn({
            let crew = Arc::clone(&crew);
            move || {
                crew.sleep.sleep(1, None);
                crew.stall.wakes(Rest::Sleep);
                // No other worker could have taken the task.
                assert!(crew.take(), "refused, though another has a stack");
            }
        });
        let napper = thread::spawn({
            let crew = Arc::clone(&crew);
            move || {
                crew.stall.wakes(Rest::Nap);
                // For this worker, the task aside does not count.
                assert!(crew.sleep.announce(2, || false));
                crew.stall.rests(Rest::Sleep);
            }
        });
        crew.starve();
        assert!(!crew.sleep.notify(1), "another worker was woken");
        sleeper.join().unwrap();
        napper.join().unwrap();
    });
}

/// A napping worker wakes up and takes a fiber, by whatever store. A thread that sees this store
/// also sees the worker awake.
#[test]
fn one_that_takes_a_fiber_is_awake() {
    model(3, || {
        let stall = Arc::new(Stall::new(2));
        let inbox = Arc::new(AtomicUsize::new(1));
        stall.rests(Rest::Nap);
        let napper = thread::spawn({
            let (stall, inbox) = (Arc::clone(&stall), Arc::clone(&inbox));
            move || {
                stall.wakes(Rest::Nap);
                inbox.store(0, Relaxed);
            }
        });
        let rest = stall.all_rest(|| 0, || inbox.load(Relaxed) == 0);
        assert!(!rest, "refused, though a fiber goes on");
        napper.join().unwrap();
    });
}

/// A napping worker has left something behind. A thread that sees the worker rest also sees that.
#[test]
fn what_one_that_naps_leaves_behind_is_seen() {
    model(2, || {
        let stall = Arc::new(Stall::new(3));
        let inbox = Arc::new(AtomicUsize::new(0));
        let nappers = [0, 1].map(|number| {
            let (stall, inbox) = (Arc::clone(&stall), Arc::clone(&inbox));
            thread::spawn(move || {
                inbox.fetch_or(1 << number, Relaxed);
                stall.rests(Rest::Nap);
            })
        });
        stall.all_rest(
            || 0,
            || {
                assert_eq!(inbox.load(Relaxed), 3);
                true
            },
        );
        nappers.into_iter().for_each(|napper| napper.join().unwrap());
    });
}

/// If no other worker has a stack, the task is refused.
#[test]
fn those_that_nap_stand_still() {
    model(3, || {
        let crew = Crew::new(2);
        crew.stall.rests(Rest::Nap);
        crew.put();
        assert!(crew.stall.all_rest(|| crew.sleep.announced(), || true));
        crew.stall.wakes(Rest::Nap);
        assert!(!crew.stall.all_rest(|| crew.sleep.announced(), || true));
        // A spare stack comes and goes.
        crew.stall.rests(Rest::Nap);
        crew.stall.comes();
        assert!(!crew.stall.all_rest(|| crew.sleep.announced(), || true));
        crew.stall.goes();
        assert!(crew.stall.all_rest(|| crew.sleep.announced(), || true));
        assert!(crew.take());
    });
}
