//! Models of the join stack: every job runs exactly once, whichever threads ask and however the
//! steps interleave.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use sateen_runtime::models::join_stack::{Job, JoinStack, Slot, Stolen};
use sateen_testkit::model;

const JOBS: usize = 3;

/// A job that counts its runs. The stack knows only its address.
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
        // SAFETY: the owner is the caller, and at most `JOBS` jobs are pushed at once.
        unsafe { stack.move_to(slots.as_mut_ptr()) };
        let jobs =
            std::array::from_fn(|_| Counted { job: Job { run: count }, runs: AtomicUsize::new(0) });
        Arc::new(Self { stack, jobs, _slots: slots })
    }

    /// Pushes as the owner does.
    fn push(&self, i: usize) {
        // SAFETY: this is the owner's thread, and jobs outlive the model.
        unsafe { self.stack.push(&self.jobs[i].job) };
    }

    /// Does what the owner does in a join after its first branch.
    fn pop_and_run(&self, i: usize) {
        if self.stack.pop() || self.stack.pop_slow() {
            // SAFETY: the job was popped, so this thread owns it.
            unsafe { count(&self.jobs[i].job) };
        }
    }

    fn steal_and_run(&self) {
        if let Stolen::Job(job, ..) = self.stack.steal_if(|_| true) {
            // SAFETY: the job was stolen, so this thread owns it.
            unsafe { count(job) };
        }
    }

    fn all_ran(&self, n: usize) {
        for (i, job) in self.jobs[..n].iter().enumerate() {
            assert_eq!(job.runs.load(Relaxed), 1, "job {i}");
        }
    }
}

/// A thief gets the tag of the job that it gets, though the owner changes the tag as soon as
/// nothing is left to steal.
#[test]
fn a_stolen_job_keeps_its_tag() {
    const TAGS: [usize; 2] = [0x10, 0x20];
    let tag = |i: usize| std::ptr::without_provenance::<()>(TAGS[i]);
    model(3, move || {
        let model = Model::new();
        let thief = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                let Stolen::Job(job, tag, _) = model.stack.steal_if(|_| true) else { return };
                let first = std::ptr::eq(job, &model.jobs[0].job);
                assert_eq!(tag.addr(), TAGS[usize::from(!first)], "another job's tag");
                // SAFETY: the job was stolen, so this thread owns it.
                unsafe { count(job) };
            })
        };
        for i in 0..2 {
            if model.stack.is_empty() {
                model.stack.set_tag(tag(i));
            }
            model.push(i);
            model.stack.publish();
            if i == 1 || !model.stack.is_empty() {
                model.pop_and_run(i);
            } else {
                // Stolen, and not popped yet: the next lies on top of it.
                model.stack.set_tag(tag(1));
                model.push(1);
                model.stack.publish();
                model.pop_and_run(1);
                model.pop_and_run(0);
                break;
            }
        }
        thief.join().unwrap();
        model.all_ran(2);
    });
}

/// The owner pops while a thief publishes by force and steals.
#[test]
fn forced_publication_against_pop() {
    model(3, || {
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

/// The owner pops, and pushes again into the same slot, where the thief may have looked before.
#[test]
fn forced_publication_against_a_reused_slot() {
    model(3, || {
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

/// The owner publishes on request. Two thieves compete for the oldest job while the owner takes the
/// rest back.
#[test]
fn cooperative_publication_against_two_thieves() {
    model(3, || {
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

/// Workers take the jobs of a suspended owner through its entry in the run queue. There is never
/// more than one entry, and an empty stack needs none.
#[test]
fn a_listed_stack_is_emptied_once() {
    model(3, || {
        let model = Model::new();
        model.push(0);
        model.push(1);
        let listed = model.stack.publish_for_suspension();
        assert!(listed);
        let taker = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                // The entry is put back while more jobs are left.
                while let Stolen::Job(job, _, more) = model.stack.steal_listed() {
                    // SAFETY: the job was stolen, so this thread owns it.
                    unsafe { count(job) };
                    if !more {
                        break;
                    }
                }
            })
        };
        // The owner is resumed early and takes its own jobs back.
        model.pop_and_run(1);
        model.pop_and_run(0);
        taker.join().unwrap();
        model.all_ran(2);
        assert!(!model.stack.publish_for_suspension());
    });
}

/// A stack is emptied through its entry, and is listed again when its owner suspends again. It is
/// never listed twice, and never without an entry while it holds a job.
#[test]
fn a_stack_is_listed_anew() {
    model(3, || {
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
                if let Stolen::Job(job, _, more) = model.stack.steal_listed() {
                    if more {
                        entries.fetch_add(1, Relaxed);
                    }
                    // SAFETY: the job was stolen, so this thread owns it.
                    unsafe { count(job) };
                }
            })
        };
        // Something else resumes the owner, which suspends again with another branch.
        model.pop_and_run(0);
        model.push(1);
        list(&model);
        taker.join().unwrap();
        if entries.load(Relaxed) != 0 {
            assert_ne!(model.stack.steal_listed(), Stolen::Busy);
        } else {
            assert_eq!(model.stack.steal_if(|_| true), Stolen::Empty, "nobody would find it");
        }
    });
}

/// A thief steals what it sees while the owner suspends. Another worker takes a job through the
/// entry.
#[test]
fn a_suspension_against_a_thief() {
    model(3, || {
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
                Stolen::Job(job, _, more) => {
                    // SAFETY: the job was stolen, so this thread owns it.
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
