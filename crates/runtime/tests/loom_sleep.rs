//! Models of the sleep protocol: a reduced worker around the real request word, join stack and
//! sleepers.
//!
//! A worker that got something to run stays busy for ever. So only the protocol brings the rest of
//! the work to the sleepers. A worker that sleeps for ever is a deadlock, which the checker
//! reports. If the sleeper is not a thread of the model, the model checks at the end what that
//! sleeper relies on.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{
    Ordering::{Relaxed, SeqCst},
    fence,
};
use loom::thread;
use sateen_base::prim::searched::AtomicUsize;
use sateen_runtime::models::join_stack::{Job, JoinStack, Slot};
use sateen_runtime::models::offer;
use sateen_runtime::models::request_word::{HUNGRY, RequestWord};
use sateen_runtime::models::sleepers::Sleepers;
use sateen_testkit::model;

const JOBS: usize = 2;
/// The slots of the workers that sleep.
const A: usize = 0;
const B: usize = 1;

unsafe fn nothing(_: *const Job) {}

struct Model {
    sleepers: Sleepers,
    /// The worker that has join work.
    requests: RequestWord,
    stack: JoinStack,
    jobs: [Job; JOBS],
    _slots: Vec<Slot>,
    /// A queue from which every worker takes.
    queue: AtomicUsize,
    /// The owner's own.
    eager: std::sync::atomic::AtomicU32,
}

impl Model {
    fn new(raised: u32) -> Arc<Self> {
        Self::on(2, raised)
    }

    /// Two workers on `cores`.
    fn on(cores: usize, raised: u32) -> Arc<Self> {
        let mut slots: Vec<Slot> = (0..JOBS).map(|_| Slot::new(std::ptr::null_mut())).collect();
        let stack = JoinStack::new();
        // SAFETY: the owner is the caller, and at most `JOBS` jobs are pushed at once.
        unsafe { stack.move_to(slots.as_mut_ptr()) };
        Arc::new(Self {
            sleepers: Sleepers::new(2, None).with_cores(2, cores),
            requests: RequestWord::new(raised),
            stack,
            jobs: [Job { run: nothing }, Job { run: nothing }],
            _slots: slots,
            queue: AtomicUsize::new(0),
            eager: std::sync::atomic::AtomicU32::new(0),
        })
    }

    // ---- the owner ----

    fn push(&self, i: usize) {
        // SAFETY: this is the owner's thread, and jobs outlive the model.
        if unsafe { offer::push(&self.stack, &self.jobs[i], || self.requests.word().load(Relaxed)) }
        {
            self.poll();
        }
    }

    fn poll(&self) {
        if self.requests.has(HUNGRY) {
            let eager = self.eager.load(Relaxed);
            let fed = offer::answer(&self.stack, &self.requests, &self.sleepers, eager);
            self.eager.store(fed.eager, Relaxed);
        }
    }

    /// Submits work as any thread outside does.
    fn submit(&self) {
        self.queue.store(1, Relaxed);
        fence(SeqCst);
        self.sleepers.wake_searcher();
    }

    /// Puts something into the queue as a worker does.
    fn enqueue(&self) {
        self.queue.store(1, Relaxed);
        offer::wake(&self.requests, &self.sleepers);
    }

    /// Whether the youngest job still belongs to the owner.
    fn pop(&self) -> bool {
        self.stack.pop() || offer::reclaim(&self.stack, || Some((&self.requests, &self.sleepers)))
    }

    // ---- thieves ----

    fn steal(&self) -> bool {
        offer::steal(&self.stack, &self.requests).is_some()
    }

    fn take(&self) -> bool {
        // As in a real queue, a plain look comes first, which is why fences are needed.
        self.queue.load(Relaxed) != 0 && self.queue.swap(0, Relaxed) != 0
    }

    fn has_stealable(&self) -> bool {
        self.stack.has_public() || self.queue.load(Relaxed) != 0
    }

    /// Ends a search as `idle.rs` does.
    fn end_search(&self, found: bool) {
        if self.sleepers.end_search() && found {
            self.sleepers.pass_on(|| self.has_stealable());
        }
    }

    /// As in `idle.rs`, searches and sleeps until it has a job. The first, provisional sleep ends
    /// at once, as does the lookout's.
    fn find(&self, me: usize) {
        self.sleepers.begin_search();
        loop {
            let found = self.steal() || self.take();
            self.end_search(found);
            if found {
                return;
            }
            if self.sleepers.announce(me, || self.has_stealable()) && !self.look_out(me) {
                while self.sleep_for_good(me) {}
            }
            // Lets the holder of the stack's lock go on.
            thread::yield_now();
            self.sleepers.begin_search();
        }
    }

    /// As in `lookout.rs`: whether it got up.
    fn look_out(&self, me: usize) -> bool {
        if !self.sleepers.begin_lookout(me) {
            return false;
        }
        self.sleepers.end_lookout();
        !self.sleepers.cancel(me) || !self.sleepers.announce(me, || self.has_stealable())
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

    /// Worker `me`, which has announced its sleep once, has been notified.
    fn assert_woken(&self, me: usize) {
        assert!(!self.sleepers.notify(me), "another worker was woken");
    }

    /// Checks the invariant on which the remaining sleepers rely. All other workers are busy for
    /// ever.
    fn check_quiet(&self) {
        if self.sleepers.has_sleepers() {
            assert!(!self.has_stealable(), "slept through work in the open");
            assert!(self.requests.has(HUNGRY), "the next push would wake nobody");
        }
    }
}

/// The owner publishes something and stays busy, beside a worker that falls asleep.
fn a_sleeper_gets_it(cores: usize, publish: fn(&Model)) {
    model(3, move || {
        let model = Model::on(cores, 0);
        let sleeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.find(A)
        });
        publish(&model);
        sleeper.join().unwrap();
    });
}

/// The owner pushes one job and stays busy. Whenever that happens, the sleeper gets the job.
#[test]
fn a_private_job_is_not_slept_through() {
    a_sleeper_gets_it(2, |model| model.push(0));
}

/// As above, for a queue from which every worker takes. The sleeper may be searching, announcing
/// itself, or asleep.
#[test]
fn a_queued_job_is_not_slept_through() {
    a_sleeper_gets_it(2, Model::enqueue);
}

/// As above, where one core has a worker already: the owner may wake none and rely on the lookout.
#[test]
fn a_lookout_leaves_no_job_behind() {
    a_sleeper_gets_it(1, Model::enqueue);
}

/// The same for a job of a join stack, which the owner makes public by request.
#[test]
fn a_lookout_leaves_no_private_job_behind() {
    a_sleeper_gets_it(1, |model| model.push(0));
}

/// Against a submission with its full fence, the first step alone is enough for a long sleep.
#[test]
fn a_submission_is_not_slept_through_from_the_first_step_on() {
    model(3, || {
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

/// While a worker falls asleep, the owner answers an old request, has nothing to offer, and pushes
/// afterwards.
#[test]
fn an_answer_without_an_offer_leaves_the_request() {
    model(3, || {
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

/// The owner wakes a worker for its first job, and pushes another while that worker is on its way,
/// or has taken the first job already. `eager` is what is left of its eagerness then.
fn a_second_job_is_not_slept_through(eager: u32) {
    model(3, move || {
        let model = Model::new(0);
        model.asleep(A);
        model.asleep(B);
        let woken = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                assert!(model.sleepers.sleep(A, None));
                model.sleepers.begin_search();
                while !model.steal() {
                    // The owner holds the lock, or has yet to publish what it woke this one for.
                    thread::yield_now();
                }
                model.end_search(true);
            }
        });
        model.push(0);
        assert!(model.eager.load(Relaxed) > 0, "it woke no worker");
        model.assert_woken(A);
        model.eager.store(eager, Relaxed);
        model.push(1);
        assert!(!model.stack.has_private(), "the woken worker has to ask for it");
        woken.join().unwrap();
        model.check_quiet();
    });
}

#[test]
fn an_eager_owner_leaves_no_job_behind() {
    a_second_job_is_not_slept_through(2);
}

/// It gives up, though the worker has not come.
#[test]
fn an_owner_that_ceases_to_be_eager_leaves_no_job_behind() {
    a_second_job_is_not_slept_through(1);
}

/// A searcher steals the last public job while the owner answers a sleeper's request with it.
#[test]
fn the_last_public_job_is_stolen_under_an_answer() {
    model(3, || {
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

/// The owner answers a sleeper's request with a public job and takes that job back. Meanwhile the
/// searching worker finds something else.
#[test]
fn the_last_public_job_is_taken_back() {
    model(3, || {
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
    model(3, || {
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

/// A notification for a submission reaches a worker that has work of its own by then.
#[test]
fn a_notified_worker_with_its_hands_full_passes_on() {
    model(2, || {
        let model = Model::new(0);
        model.asleep(A);
        model.asleep(B);
        let owner = thread::spawn({
            let model = Arc::clone(&model);
            move || {
                assert!(model.sleepers.sleep(A, None));
                model.sleepers.pass_on(|| model.has_stealable());
            }
        });
        let waker = thread::spawn({
            let model = Arc::clone(&model);
            move || model.sleepers.wake_owner(A)
        });
        model.submit();
        model.assert_woken(A);
        owner.join().unwrap();
        waker.join().unwrap();
        model.check_quiet();
    });
}
