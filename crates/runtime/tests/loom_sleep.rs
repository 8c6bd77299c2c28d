//! Models of the sleep protocol: a reduced worker around the real request word, join stack and sleepers.
//!
//! Workers that got something to run are busy for ever after, so nobody but the protocol brings the rest
//! to those who sleep. A worker that sleeps for ever is a deadlock, which the checker reports; where the
//! sleeper is not a thread of the model, what it relies on is checked when all is quiet.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use sateen_runtime::join_stack::{Job, JoinStack, Slot};
use sateen_runtime::offer;
use sateen_runtime::request_word::{HUNGRY, RequestWord};
use sateen_runtime::sleepers::Sleepers;

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

    /// Whether the youngest job is still the owner's.
    fn pop(&self) -> bool {
        self.stack.pop() || offer::reclaim(&self.stack, || Some((&self.requests, &self.sleepers)))
    }

    // ---- thieves ----

    fn steal(&self) -> bool {
        offer::steal(&self.stack, &self.requests).is_some()
    }

    fn has_stealable(&self) -> bool {
        self.stack.has_public() || self.queue.load(Relaxed) != 0
    }

    /// Sleeps and searches until it has a job, as `idle.rs` does; the first, provisional sleep is over at
    /// once.
    fn find(&self, me: usize) {
        while !self.steal() {
            if self.sleepers.announce(me, || self.has_stealable()) {
                while self.sleep_for_good(me) {}
            }
            // Whoever holds the stack's lock has to get on.
            thread::yield_now();
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
}

fn check(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

/// The owner pushes one job and is busy; whenever that is, the sleeper gets it.
#[test]
fn a_private_job_is_not_slept_through() {
    check(|| {
        let model = Model::new(0);
        let sleeper = thread::spawn({
            let model = Arc::clone(&model);
            move || model.find(A)
        });
        model.push(0);
        sleeper.join().unwrap();
    });
}
