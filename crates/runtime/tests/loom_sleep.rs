//! Models of the sleep protocol: a reduced worker around the real request word, join stack and
//! sleepers.
//!
//! Workers that got something to run are busy for ever after, so nobody but the protocol brings the
//! rest to those who sleep. A worker that sleeps for ever is a deadlock, which the checker reports;
//! where the sleeper is not a thread of the model, what it relies on is checked when all is quiet.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::sync::atomic::{
    Ordering::{Relaxed, SeqCst},
    fence,
};
use loom::thread;
use loom_common::check;
use sateen_base::canary;
use sateen_base::prim::searched::AtomicUsize;
use sateen_runtime::models::join_stack::{Job, JoinStack, Slot};
use sateen_runtime::models::offer;
use sateen_runtime::models::request_word::{HUNGRY, RequestWord};
use sateen_runtime::models::sleepers::Sleepers;

const JOBS: usize = 2;
/// Slots of the workers that sleep.
const A: usize = 0;
const B: usize = 1;

unsafe fn nothing(_: *const Job) {}

struct Model {
    sleepers: Sleepers,
    /// The one worker that has join work.
    requests: RequestWord,
    stack: JoinStack,
    jobs: [Job; JOBS],
    _slots: Vec<Slot>,
    /// A queue for everybody.
    queue: AtomicUsize,
}

impl Model {
    fn new(raised: u32) -> Arc<Self> {
        let mut slots: Vec<Slot> = (0..JOBS).map(|_| Slot::new(std::ptr::null_mut())).collect();
        let stack = JoinStack::new();
        // SAFETY: the owner is the caller, and nothing pushes more than `JOBS` at once.
        unsafe { stack.place(slots.as_mut_ptr()) };
        Arc::new(Self {
            sleepers: Sleepers::new(2, None),
            requests: RequestWord::new(raised),
            stack,
            jobs: [Job { run: nothing }, Job { run: nothing }],
            _slots: slots,
            queue: AtomicUsize::new(0),
        })
    }

    // ---- the owner ----

    fn push(&self, i: usize) {
        // SAFETY: the owner's thread; jobs outlive the model.
        if unsafe { offer::push(&self.stack, &self.jobs[i], || self.requests.word().load(Relaxed)) }
        {
            self.poll();
        }
    }

    fn poll(&self) {
        if self.requests.has(HUNGRY) {
            offer::feed(&self.stack, &self.requests, &self.sleepers);
        }
    }

    /// Anybody, from outside.
    fn submit(&self) {
        self.queue.store(1, Relaxed);
        fence(SeqCst);
        self.sleepers.wake_searcher();
    }

    /// Whether the youngest job is still the owner's.
    fn pop(&self) -> bool {
        self.stack.pop() || offer::reclaim(&self.stack, || Some((&self.requests, &self.sleepers)))
    }

    // ---- thieves ----

    fn steal(&self) -> bool {
        offer::steal(&self.stack, &self.requests).is_some()
    }

    fn take(&self) -> bool {
        // A plain look first, as in a real queue: that is what the fences are for.
        self.queue.load(Relaxed) != 0 && self.queue.swap(0, Relaxed) != 0
    }

    fn has_stealable(&self) -> bool {
        self.stack.has_public() || self.queue.load(Relaxed) != 0
    }

    /// The end of a search, as in `idle.rs`.
    fn end_search(&self, found: bool) {
        if self.sleepers.end_search() && found {
            self.sleepers.pass_on(|| self.has_stealable());
        }
    }

    /// Searches and sleeps until it has a job, as `idle.rs` does; the first, provisional sleep is
    /// over at once.
    fn find(&self, me: usize) {
        self.sleepers.begin_search();
        loop {
            let found = self.steal() || self.take();
            self.end_search(found);
            if found {
                return;
            }
            if self.sleepers.announce(me, || self.has_stealable()) {
                while self.sleep_for_good(me) {}
            }
            // The holder of the stack's lock has to get on.
            thread::yield_now();
            self.sleepers.begin_search();
        }
    }

    fn sleep_for_good(&self, me: usize) -> bool {
        let insist = || _ = self.requests.insist(HUNGRY);
        if !self.sleepers.ask(me, insist, || self.has_stealable()) {
            return false;
        }
        if self.stack.has_private() && self.stack.force_publish() {
            self.sleepers.cancel(me);
            return false;
        }
        !self.sleepers.sleep(me, None)
    }

    // ---- a worker that sleeps, without being a thread of the model ----

    fn asleep(&self, me: usize) {
        assert!(self.sleepers.announce(me, || false));
        assert!(self.sleepers.ask(me, || _ = self.requests.insist(HUNGRY), || false));
    }

    /// All others are busy for ever: the invariant that the remaining sleepers rely on.
    fn check_quiet(&self) {
        if self.sleepers.has_sleepers() {
            assert!(!self.has_stealable(), "slept through work in the open");
            assert!(self.requests.has(HUNGRY), "the next push would wake nobody");
        }
    }
}

/// The owner pushes one job and is busy; whenever that is, the sleeper gets it.
#[test]
fn a_private_job_is_not_slept_through() {
    check(3, || {
        let model = Model::new(0);
        let sleeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.find(A)
        });
        model.push(0);
        sleeper.join().unwrap();
    });
}

/// As above, for a queue that everybody takes from: the sleeper may be searching, announcing
/// itself, or asleep.
#[test]
fn a_queued_job_is_not_slept_through() {
    check(3, || {
        let model = Model::new(0);
        let sleeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.find(A)
        });
        model.queue.store(1, Relaxed);
        offer::wake(&model.requests, &model.sleepers);
        sleeper.join().unwrap();
    });
}

/// Against a submission, with its full fence, the first step alone is enough for a long sleep.
#[test]
fn a_submission_is_not_slept_through_from_the_first_step_on() {
    check(3, || {
        let model = Model::new(0);
        let sleeper = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                while !model.take() {
                    if model.sleepers.announce(A, || model.has_stealable()) {
                        model.sleepers.sleep(A, None);
                    }
                }
            }
        });
        model.submit();
        sleeper.join().unwrap();
    });
}

/// The owner answers an old request while a worker falls asleep, has nothing to offer, and pushes
/// then.
#[test]
fn an_answer_without_an_offer_leaves_the_request() {
    check(3, || {
        let model = Model::new(HUNGRY);
        let sleeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.find(A)
        });
        model.poll();
        model.push(0);
        sleeper.join().unwrap();
    });
}

/// A searcher steals the last public job while the owner answers a sleeper's request with it.
#[test]
fn the_last_public_job_is_stolen_under_an_answer() {
    check(3, || {
        let model = Model::new(0);
        model.push(0);
        model.stack.publish();
        model.sleepers.begin_search();
        model.asleep(B);
        let thief = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                while !model.steal() {
                    thread::yield_now();
                }
                model.end_search(true);
            }
        });
        model.push(1);
        thief.join().unwrap();
        model.check_quiet();
    });
}

/// The owner answers a sleeper's request with a public job, and takes that back, while the worker
/// that searched finds something else.
#[test]
fn the_last_public_job_is_taken_back() {
    check(3, || {
        let model = Model::new(0);
        model.push(0);
        model.stack.publish();
        model.sleepers.begin_search();
        model.asleep(B);
        let searcher = thread::spawn({
            let model = Arc::clone(&model);
            move || model.end_search(true)
        });
        model.poll();
        assert!(model.pop());
        searcher.join().unwrap();
        model.check_quiet();
    });
}

/// A submitter relies on a searcher that finds something else at this moment.
#[test]
fn a_searcher_with_its_hands_full_passes_on() {
    check(3, || {
        let model = Model::new(0);
        model.sleepers.begin_search();
        model.asleep(B);
        let searcher = thread::spawn({
            let model = Arc::clone(&model);
            move || model.end_search(true)
        });
        model.submit();
        searcher.join().unwrap();
        model.check_quiet();
    });
}

/// A notification for a submission goes to a worker that has something of its own to do by then.
#[test]
fn a_notified_worker_with_its_hands_full_passes_on() {
    check(2, || {
        let model = Model::new(0);
        model.asleep(A);
        model.asleep(B);
        let owner = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                assert!(model.sleepers.sleep(A, None));
                if !canary!("sleep_notified_keeps") {
                    model.sleepers.pass_on(|| model.has_stealable());
                }
            }
        });
        let waker = thread::spawn({
            let model = Arc::clone(&model);
            move || model.sleepers.wake_owner(A)
        });
        model.submit();
        owner.join().unwrap();
        waker.join().unwrap();
        model.check_quiet();
    });
}
