//! What reports, and the end of a runtime, query about a fiber.

use super::Fiber;
use crate::context;
use crate::wait_record::Wait;
use sateen_base::prim::Arc;

impl Fiber {
    /// What it waits for, if the wait has recorded that.
    pub(crate) fn wait(&self) -> Option<Wait> {
        self.wait.read()
    }

    /// Whether it waits for a wake-up; a hint for all but its worker.
    pub(crate) fn is_parked(&self) -> bool {
        self.park_word.is_parked()
    }

    /// Records whether its thread sleeps in a wait. Only the fiber calls this.
    pub(crate) fn set_asleep(&self, asleep: bool) {
        *self.asleep.lock() = asleep;
    }

    pub(crate) fn is_asleep(&self) -> bool {
        *self.asleep.lock()
    }

    /// Calls `look` if the fiber's thread is asleep and stays so, or is the caller's. `look` may
    /// read everything that the worker's thread may read. Returns whether it was called.
    pub(crate) fn while_asleep(&self, look: impl FnOnce()) -> bool {
        let asleep = self.asleep.lock();
        let holds = *asleep || context::fiber().is_some_and(|here| std::ptr::eq(here, self));
        if holds {
            look();
        }
        holds
    }

    /// Whether its waits must not unwind. Only the worker calls this.
    pub(crate) fn is_masked(&self) -> bool {
        self.masks.get() != 0
    }

    /// Approximate number of wakers of this fiber. The caller holds one count, and the runtime
    /// another.
    pub(crate) fn wakers(self: &Arc<Self>) -> usize {
        in_use(Arc::strong_count(self), self.kept.count())
    }
}

/// The counts held by wakers: all `counts` less the `kept` ones, the runtime's and the caller's.
/// The two were read one after another, so on other threads `kept` may be the larger.
fn in_use(counts: usize, kept: usize) -> usize {
    counts.saturating_sub(kept).saturating_sub(2)
}

impl std::fmt::Debug for Fiber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fiber").field("shared", &Arc::as_ptr(&self.shared)).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::in_use;

    #[test]
    fn wakers_are_none_when_more_are_kept_than_there_were() {
        assert_eq!(
            [(2, 0), (5, 1), (6, 4), (3, 4), (0, 4)].map(|(c, k)| in_use(c, k)),
            [0, 2, 0, 0, 0]
        );
    }
}
