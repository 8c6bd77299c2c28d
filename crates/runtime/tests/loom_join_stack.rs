//! Models of the join stack: every job runs exactly once, whichever threads ask and however the
//! steps interleave.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use loom_common::check;
use sateen_runtime::models::join_stack::{Job, JoinStack, Slot, Stolen};

const JOBS: usize = 3;

/// A job that counts its runs. The address is all the stack knows.
#[repr(C)]
struct Counted {
    job: Job,
    runs: AtomicUsize,
}

unsafe fn count(job: *const Job) {
    // SAFETY: every job of these models starts a `Counted`.
    unsafe { &*job.cast::<Counted>() }.runs.fetch_add(1, Relaxed);
}

struct Model {
    stack: JoinStack,
    jobs: [Counted; JOBS],
    _slots: Vec<Slot>,
}

impl Model {
    fn new() -> Arc<Self> {
        let mut slots: Vec<Slot> = (0..JOBS).map(|_| Slot::new(std::ptr::null_mut())).collect();
        let stack = JoinStack::new();
        // SAFETY: the owner is the caller, and nothing pushes more than `JOBS` at once.
        unsafe { stack.place(slots.as_mut_ptr()) };
        let jobs =
            std::array::from_fn(|_| Counted { job: Job { run: count }, runs: AtomicUsize::new(0) });
        Arc::new(Self { stack, jobs, _slots: slots })
    }

    /// Owner.
    fn push(&self, i: usize) {
        // SAFETY: the owner's thread; jobs outlive the model.
        unsafe { self.stack.push(&self.jobs[i].job) };
    }

    /// Owner: what a join does after its first branch.
    fn pop_and_run(&self, i: usize) {
        if self.stack.pop() || self.stack.pop_slow() {
            // SAFETY: popped, so ours.
            unsafe { count(&self.jobs[i].job) };
        }
    }

    fn steal_and_run(&self) {
        if let Stolen::Job(job, _) = self.stack.steal() {
            // SAFETY: stolen, so ours.
            unsafe { count(job) };
        }
    }

    fn all_ran(&self, n: usize) {
        for (i, job) in self.jobs[..n].iter().enumerate() {
            assert_eq!(job.runs.load(Relaxed), 1, "job {i}");
        }
    }
}

/// The owner pops while a thief publishes by force and steals.
#[test]
fn forced_publication_against_pop() {
    check(3, || {
        let model = Model::new();
        model.push(0);
        model.push(1);
        let thief = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.stack.force_publish();
                model.steal_and_run();
            })
        };
        model.pop_and_run(1);
        model.pop_and_run(0);
        thief.join().unwrap();
        model.all_ran(2);
    });
}

/// The owner pops and pushes again into the same slot, where the thief may have looked before.
#[test]
fn forced_publication_against_a_reused_slot() {
    check(3, || {
        let model = Model::new();
        model.push(0);
        let thief = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.stack.force_publish();
                model.steal_and_run();
            })
        };
        model.pop_and_run(0);
        model.push(1);
        model.pop_and_run(1);
        thief.join().unwrap();
        model.all_ran(2);
    });
}

/// The owner publishes on request; two thieves compete for the oldest while it takes the rest back.
#[test]
fn cooperative_publication_against_two_thieves() {
    check(3, || {
        let model = Model::new();
        model.push(0);
        model.push(1);
        let thieves: Vec<_> = (0..2)
            .map(|_| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.steal_and_run())
            })
            .collect();
        model.stack.publish();
        model.push(2);
        model.pop_and_run(2);
        model.pop_and_run(1);
        model.pop_and_run(0);
        thieves.into_iter().for_each(|t| t.join().unwrap());
        model.all_ran(3);
    });
}

/// A suspended owner's jobs are taken through the run queue's entry, of which there is never more
/// than one, and none is needed once the stack is empty.
#[test]
fn a_listed_stack_is_emptied_once() {
    check(3, || {
        let model = Model::new();
        model.push(0);
        model.push(1);
        let listed = model.stack.publish_for_suspension();
        assert!(listed);
        let taker = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                // The entry is put back while there is more.
                while let Stolen::Job(job, more) = model.stack.steal_listed() {
                    // SAFETY: stolen, so ours.
                    unsafe { count(job) };
                    if !more {
                        break;
                    }
                }
            })
        };
        // Resumed early: takes its own jobs back.
        model.pop_and_run(1);
        model.pop_and_run(0);
        taker.join().unwrap();
        model.all_ran(2);
        assert!(!model.stack.publish_for_suspension());
    });
}

/// A stack that is emptied through its entry is listed again when its owner suspends again: never
/// twice, and never without an entry while it holds anything.
#[test]
fn a_stack_is_listed_anew() {
    check(3, || {
        let model = Model::new();
        let entries = Arc::new(AtomicUsize::new(0));
        let list = |model: &Model| {
            if model.stack.publish_for_suspension() {
                assert_eq!(entries.fetch_add(1, Relaxed), 0, "listed twice");
            }
        };
        model.push(0);
        list(&model);
        let taker = {
            let (model, entries) = (Arc::clone(&model), Arc::clone(&entries));
            thread::spawn(move || {
                entries.fetch_sub(1, Relaxed);
                if let Stolen::Job(job, more) = model.stack.steal_listed() {
                    if more {
                        entries.fetch_add(1, Relaxed);
                    }
                    // SAFETY: stolen, so ours.
                    unsafe { count(job) };
                }
            })
        };
        // Resumed by something else; suspends again with another branch.
        model.pop_and_run(0);
        model.push(1);
        list(&model);
        taker.join().unwrap();
        if entries.load(Relaxed) != 0 {
            assert_ne!(model.stack.steal_listed(), Stolen::Busy);
        } else {
            assert_eq!(model.stack.steal(), Stolen::Empty, "nobody would find it");
        }
    });
}

/// A thief steals what it sees while the owner suspends, and another takes through the entry.
#[test]
fn a_suspension_against_a_thief() {
    check(3, || {
        let model = Model::new();
        model.push(0);
        model.push(1);
        model.stack.publish();
        let thief = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.steal_and_run())
        };
        let mut listed = model.stack.publish_for_suspension();
        while listed {
            listed = match model.stack.steal_listed() {
                Stolen::Job(job, more) => {
                    // SAFETY: stolen, so ours.
                    unsafe { count(job) };
                    more
                }
                _ => false,
            };
        }
        thief.join().unwrap();
        model.all_ran(2);
    });
}
