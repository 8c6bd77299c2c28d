//! Statistics of a worker: lengths, stacks and times. Its owner writes, any thread reads.

use super::{Owner, Worker};
use crate::metrics::Doing;
use crate::trace;
use sateen_base::prim::Ordering;

impl Worker {
    /// Number of entries in the pinned queue.
    pub(crate) fn pinned_len(&self) -> usize {
        // Ordering: Relaxed, a hint.
        if self.has_pinned.load(Ordering::Relaxed) { self.pinned.lock().len() } else { 0 }
    }

    /// [`Worker::pinned_len`] for a thread that must not wait. `None` if the queue is locked.
    #[cfg(all(feature = "inspect", unix))]
    pub(crate) fn try_pinned_len(&self) -> Option<usize> {
        // Ordering: Relaxed, a hint.
        match self.has_pinned.load(Ordering::Relaxed) {
            true => self.pinned.try_lock().map(|pinned| pinned.len()),
            false => Some(0),
        }
    }

    /// Calls `f` with the pinned queue locked.
    #[cfg(all(feature = "inspect", unix, test))]
    pub(crate) fn with_pinned_locked(&self, f: &dyn Fn()) {
        let _held = self.pinned.lock();
        f();
    }

    /// Number of fibers that the policy holds. Exact for the owner.
    #[inline]
    pub(crate) fn ready_len(&self) -> usize {
        // Ordering: Relaxed; one writer, and a statistic for others.
        self.ready.load(Ordering::Relaxed)
    }

    /// Number of fibers that wait for a wake-up. Exact for the owner.
    #[inline]
    pub(crate) fn suspended_len(&self) -> usize {
        // Ordering: Relaxed, as above.
        self.suspended.load(Ordering::Relaxed)
    }

    /// Number of stacks that its fibers use now, and the most so far.
    pub(crate) fn stacks(&self) -> (usize, usize) {
        // Ordering: Relaxed, statistics. The most is read last, so it is no less.
        let now = self.stacks.load(Ordering::Relaxed);
        (now, self.most_stacks.load(Ordering::Relaxed).max(now))
    }
}

impl Owner {
    /// Records that the worker does `then` from now on. Returns what it did before.
    #[inline]
    pub(crate) fn turn_to(&self, then: Doing) -> Doing {
        let before = self.times.switch(&self.doing, then);
        if before != then {
            trace::turned(self, before, then);
        }
        before
    }

    /// Calls `f`, during which the worker does `what`.
    #[inline]
    pub(crate) fn while_doing<R>(&self, what: Doing, f: impl FnOnce() -> R) -> R {
        let before = self.turn_to(what);
        let result = f();
        self.turn_to(before);
        result
    }

    /// Counts a stack that a fiber has taken from the runtime's.
    pub(crate) fn count_stack_in(&self) {
        // Ordering: Relaxed; one writer, and statistics for others.
        let now = self.stacks.load(Ordering::Relaxed) + 1;
        self.stacks.store(now, Ordering::Relaxed);
        if now > self.most_stacks.load(Ordering::Relaxed) {
            self.most_stacks.store(now, Ordering::Relaxed);
        }
    }

    /// Counts a stack that a fiber has returned.
    pub(crate) fn count_stack_out(&self) {
        // Ordering: Relaxed, as above.
        self.stacks.store(self.stacks.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }
}
