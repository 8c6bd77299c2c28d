//! Requests: what others ask of a worker through one word, and how it answers.
//!
//! The word (`request_word.rs`) is polled at each push and by loops and spawns; the argument why no
//! sleeper misses work is in `README.md`, "Requests" and "Sleeping".

use super::{FENCED, HUNGRY, READY, Worker};
use crate::context;
use crate::fiber::Fiber;
use crate::join_stack::{Job, JoinStack};
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Ordering, fence as full_fence};
use sateen_base::{fence, tsc};

/// How long a task may let ready fibers wait once it has noticed them.
const READY_PATIENCE: Duration = Duration::from_millis(1);

impl Worker {
    /// A push has found a request raised. Returns false on threads that are no workers: nothing was
    /// pushed, nothing can be.
    #[cold]
    #[inline(never)]
    pub(crate) fn push_slow(job: *const Job) -> bool {
        let Some(worker) = context::with(context::Context::worker) else { return false };
        let Some(fiber) = context::with(context::Context::fiber) else { return false };
        // SAFETY: a worker on its own fiber owns the join stack; the caller vouches for the job.
        unsafe { fiber.join_stack().push(job) };
        worker.answer_requests(fiber);
        true
    }

    /// Answers what others have asked for, if they have. For the slower operations; pushes poll by
    /// themselves.
    #[inline]
    pub(crate) fn poll() {
        if context::with(context::Context::requests) != 0 {
            Self::poll_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn poll_slow() {
        let worker = context::with(context::Context::worker);
        let fiber = context::with(context::Context::fiber);
        if let (Some(worker), Some(fiber)) = (worker, fiber) {
            worker.answer_requests(fiber);
        }
    }

    fn answer_requests(&self, fiber: &Fiber) {
        if self.has_request(FENCED) {
            full_fence(Ordering::SeqCst);
            if self.shared().sleep.has_sleepers() {
                self.request(HUNGRY);
            }
        }
        if self.has_request(HUNGRY) {
            self.feed(fiber.join_stack());
        }
        if self.has_request(READY) {
            self.let_ready_through(fiber);
        }
    }

    /// Publishes branches for whoever asked.
    fn feed(&self, stack: &JoinStack) {
        // First clear, then look. Once something is on offer the request is answered; whoever takes the
        // last of it asks again, a thief by `insist`, we by `reclaim` if anybody sleeps. (Were the
        // request to stay up for as long as anybody sleeps, every push would end here when there are
        // more threads than cores.)
        self.requests.clear(HUNGRY);
        if stack.has_public() {
            return self.wake_for_push();
        }
        if stack.publish() {
            self.counters.publications.bump();
            self.wake_for_push();
        } else if self.shared().sleep.has_sleepers() {
            // Nothing to offer: the sleepers still rely on us.
            self.request(HUNGRY);
        }
    }

    /// Wakes a sleeper for what was just made visible.
    #[inline]
    pub(crate) fn wake_for_push(&self) {
        // The frequent side of the sleepers' handshake; partner: the heavy fence in `idle.rs`.
        if self.has_request(FENCED) {
            full_fence(Ordering::SeqCst);
        } else {
            fence::light();
        }
        self.shared().wake_searcher();
    }

    /// The slow half of a pop; see [`JoinStack::pop_slow`].
    #[cold]
    #[inline(never)]
    pub(crate) fn reclaim(stack: &JoinStack) -> bool {
        let ours = stack.pop_slow();
        if ours && !stack.has_public() {
            // Sleepers rely on a request or on something public; see `feed` and `insist`.
            if let Some(worker) = context::with(context::Context::worker)
                && worker.shared().sleep.has_sleepers()
            {
                worker.request(HUNGRY);
            }
        }
        ours
    }

    /// Yields to ready fibers if they have waited long enough.
    fn let_ready_through(&self, fiber: &Fiber) {
        if !self.has_ready() {
            self.requests.clear(READY);
            self.own.ready_seen.set(0);
            // Whoever found the request still up has relied on it.
            full_fence(Ordering::SeqCst);
            if self.has_ready() {
                self.request(READY);
            }
            return;
        }
        let now = tsc::now();
        let seen = self.own.ready_seen.get();
        if seen == 0 {
            self.own.ready_seen.set(now.max(1));
        } else if now.saturating_sub(seen) > tsc::ticks(READY_PATIENCE) {
            self.yield_to_ready(fiber);
        }
    }

    /// Lets every fiber that is ready now run before `fiber` goes on.
    fn yield_to_ready(&self, fiber: &Fiber) {
        self.take_inbox();
        self.awaken(fiber);
        self.leave(fiber);
    }
}
