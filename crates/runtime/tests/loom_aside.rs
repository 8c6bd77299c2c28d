//! Models of the work that workers without a stack put aside. A scope does not sleep through a job
//! of its own, and a worker with a stack does not sleep through any. A worker that puts a scope's
//! job aside does not look at a scope that is gone.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::{Arc, Notify};
use loom::thread;
use sateen_base::prim::searched::{AtomicBool, AtomicUsize};
use sateen_runtime::models::aside::{Aside, WorkKind};
use sateen_runtime::models::park_word::ParkWord;
use sateen_runtime::models::sleepers::Sleepers;
use sateen_runtime::models::tight::Tight;
use sateen_testkit::model;

/// A scope with one job or two, numbered from 0, its waiting fiber, and the workers around it.
struct Model {
    aside: Aside<usize>,
    /// Whether the scope's fiber would run jobs.
    waits: AtomicBool,
    word: ParkWord,
    handed: Notify,
    /// How many jobs are not done.
    left: AtomicUsize,
    /// What the scope's frames hold. A worker that puts a job aside reads it, and the fiber writes
    /// it when the frames are gone.
    frames: UnsafeCell<()>,
    sleepers: Sleepers,
}

// SAFETY: `frames` is used only while the jobs allow it. The model checks this.
unsafe impl Sync for Model {}
// SAFETY: as above.
unsafe impl Send for Model {}

impl Model {
    fn new(jobs: usize) -> Arc<Self> {
        Arc::new(Self {
            aside: Aside::new(),
            waits: AtomicBool::new(false),
            word: ParkWord::new(),
            handed: Notify::new(),
            left: AtomicUsize::new(jobs),
            frames: UnsafeCell::new(()),
            sleepers: Sleepers::new(1, None),
        })
    }

    /// Puts a job aside, as a worker without a stack does.
    fn put(&self, job: usize) {
        let waits = self.aside.put(job, WorkKind::Scoped, None, || {
            // SAFETY: the scope waits for the job.
            self.frames.with(|frames| unsafe { *frames });
            self.waits.load(Relaxed)
        });
        if waits {
            self.unpark();
        }
        self.sleepers.wake_searcher();
    }

    fn unpark(&self) {
        if self.word.unpark() {
            self.handed.notify();
        }
    }

    fn run(&self) {
        if self.left.fetch_sub(1, Release) == 1 {
            self.unpark();
        }
    }

    /// Waits as the scope's fiber does, like `Latch::wait_helping` and `Inner::help`.
    fn wait(&self) {
        while self.left.load(Acquire) != 0 {
            self.waits.store(true, Relaxed);
            if self.aside.take_scoped(0, |_| true).is_some() {
                self.waits.store(false, Relaxed);
                self.run();
            } else {
                if self.word.begin() {
                    self.handed.wait();
                }
                self.word.resumed();
            }
        }
        // SAFETY: no thread has a job of the scope any more.
        self.frames.with_mut(|frames| unsafe { *frames = () });
    }
}

/// No other worker takes the job. The fiber has to see it before it parks, or has to be woken for
/// it.
#[test]
fn a_scope_does_not_sleep_through_its_job() {
    model(3, || {
        let model = Model::new(1);
        let worker = thread::spawn({
            let model = Arc::clone(&model);
            move || model.put(0)
        });
        model.wait();
        worker.join().unwrap();
    });
}

#[test]
fn nor_through_the_second_of_two() {
    model(2, || {
        let model = Model::new(2);
        let workers = [0, 1].map(|job| {
            let model = Arc::clone(&model);
            thread::spawn(move || model.put(job))
        });
        model.wait();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// Another worker runs the job, and then the scope ends.
#[test]
fn whoever_puts_a_job_aside_looks_while_the_scope_is_there() {
    model(2, || {
        let model = Model::new(1);
        let threads = [0, 1].map(|i| {
            let model = Arc::clone(&model);
            thread::spawn(move || match i {
                0 => model.put(0),
                _ => {
                    if model.aside.take(1).is_some() {
                        model.run();
                    }
                }
            })
        });
        model.wait();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// The sleeper has a stack, and no fiber waits for the job.
#[test]
fn a_worker_with_a_stack_does_not_sleep_through_it() {
    model(3, || {
        let model = Model::new(1);
        let starved = thread::spawn({
            let model = Arc::clone(&model);
            move || model.put(0)
        });
        while model.aside.take(0).is_none() {
            if model.sleepers.announce(0, || model.aside.count() != 0)
                && !model.sleepers.sleep(0, None)
            {
                model.sleepers.cancel(0);
            }
        }
        starved.join().unwrap();
    });
}

/// One worker has no stack. The other one goes to sleep with a stack to spare.
#[test]
fn a_stack_to_spare_is_not_slept_on() {
    model(3, || {
        let two = Arc::new((Tight::new(), Sleepers::new(1, None)));
        let starved = thread::spawn({
            let two = Arc::clone(&two);
            move || {
                two.0.raise();
                two.1.notify(0);
            }
        });
        let (tight, sleepers) = &*two;
        while !tight.is_raised() {
            if sleepers.announce(0, || tight.is_raised()) && !sleepers.sleep(0, None) {
                sleepers.cancel(0);
            }
        }
        starved.join().unwrap();
    });
}
