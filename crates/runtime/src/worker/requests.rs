//! Answers the requests of other threads.
//!
//! Each push polls the request word (`request_word.rs`), and so do loops and spawns. Why no sleeper
//! misses work: `README.md`, "Requests" and "Sleeping".

use super::{After, FENCED, HUNGRY, Owner, READY, TIMER};
use crate::context;
use crate::fiber::Fiber;
use crate::join_stack::JoinStack;
use crate::offer::{self, EAGER_PUSHES};
use crate::spans;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Ordering, fence as full_fence};
use sateen_base::tsc;

/// How long a task may let ready fibers wait once it has noticed them.
const READY_TIMEOUT: Duration = Duration::from_millis(1);

/// When the running task has noticed ready fibers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// When it first did, in ticks; 0 if it has not.
    since: u64,
    /// How often it may poll again without reading the clock.
    skip: u32,
}

impl Owner {
    /// Answers pending requests. For the slower operations, because pushes poll themselves.
    #[inline]
    pub(crate) fn poll() {
        if context::with(context::Context::requests) != 0 {
            Self::answer();
        }
    }

    /// Answers the requests that a poll has found raised.
    #[cold]
    #[inline(never)]
    pub(crate) fn answer() {
        if let Some((owner, fiber)) = context::here() {
            owner.answer_requests(fiber);
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
            let shared = self.shared();
            let (stack, eager) = (fiber.join_stack(), self.eager.get());
            let fed = offer::answer(stack, &self.requests, &shared.sleep, eager);
            self.eager.set(fed.eager);
            if fed.published {
                self.counters.publications.bump();
            }
            if fed.woke {
                shared.foresight.woke(self.left_idle.get());
            }
        }
        if self.has_request(TIMER) {
            self.mind_timers(fiber);
        }
        if self.has_request(READY) && !fiber.keeps_thread() {
            self.let_ready_through(fiber);
        }
    }

    /// A sleeper was woken. Jobs pushed until it arrives are for it.
    pub(crate) fn share(&self) {
        self.policy.share();
        self.eager.set(EAGER_PUSHES);
        self.request(HUNGRY);
    }

    /// Wakes a sleeper for work that was just pushed.
    #[inline]
    pub(crate) fn wake_for_push(&self) {
        if offer::wake(&self.requests, &self.shared().sleep) {
            self.woke_for_push();
        }
    }

    #[cold]
    #[inline(never)]
    fn woke_for_push(&self) {
        self.share();
        self.shared().foresight.woke(self.left_idle.get());
    }

    /// The slow half of a pop; see [`JoinStack::pop_slow`].
    #[cold]
    #[inline(never)]
    pub(crate) fn reclaim(stack: &JoinStack) -> bool {
        let owner = || context::owner().map(|owner| (owner.requests(), &owner.shared().sleep));
        offer::reclaim(stack, owner)
    }

    /// Yields to ready fibers if they have waited long enough.
    fn let_ready_through(&self, fiber: &Fiber) {
        if !self.has_ready() {
            self.ready_seen.take();
            return self.requests.lower_unless(READY, || self.has_ready());
        }
        let Seen { since, skip } = self.ready_seen.get();
        if skip > 0 {
            return self.ready_seen.set(Seen { since, skip: skip - 1 });
        }
        let now = tsc::now();
        if since == 0 {
            return self.ready_seen.set(Seen { since: now.max(1), skip: 0 });
        }
        let waited = now.saturating_sub(since);
        if waited > tsc::ticks(READY_TIMEOUT) {
            self.yield_to_ready(fiber);
        } else {
            // A task that polls often rarely reads the clock, because that costs as much as the
            // work between two polls.
            let often = waited < tsc::ticks(READY_TIMEOUT / 64);
            self.ready_seen.set(Seen { since, skip: if often { 15 } else { 0 } });
        }
    }

    /// Lets every fiber that is ready now run before `fiber` continues.
    fn yield_to_ready(&self, fiber: &Fiber) {
        let spans = spans::leave();
        self.take_inbox();
        self.resume(fiber, After::Yield);
        self.leave(fiber);
        spans.enter();
    }
}
