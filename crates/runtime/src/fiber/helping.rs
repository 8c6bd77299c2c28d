//! Sleep of a fiber that [helps](crate::help) and has nothing to help with.

use super::Fiber;
use crate::standoff::Patience;
use crate::time::Limit;
use sateen_base::prim::time::{Duration, Instant};
use std::ops::Range;

/// The first sleep between two checks of a wait that helps. It doubles [`DOUBLINGS`] times.
const NAP: Duration = Duration::from_micros(250);
const DOUBLINGS: u32 = 5;
/// The same in a strict runtime. There substitutes take what the fiber could help with, and
/// hundreds of fibers may wait.
const STRICT_DOUBLINGS: u32 = 10;
/// Number of these sleeps after which it checks for [standoffs](crate::standoff).
const PATIENT: u32 = 2;

impl Fiber {
    /// The record of the current wait, if that has lasted for a while.
    pub(crate) fn patience(&self) -> Option<Patience> {
        (self.naps.get() >= PATIENT).then(|| self.patience.get())
    }

    /// Sets the `pieces` that the current wait is for.
    pub(crate) fn waits_for_pieces(&self, pieces: &Range<usize>) {
        let mut patience = self.patience.get();
        patience.waits_for(pieces);
        self.patience.set(patience);
    }

    pub(crate) fn set_patience(&self, patience: Patience) {
        self.patience.set(patience);
    }

    /// Begins a wait that helps, or restarts the current one after it has helped.
    pub(crate) fn begin_helping(&self) {
        self.naps.set(0);
        self.patience.take();
    }

    /// Records a yield. Returns whether nothing was `started` during more than `most` yields in a
    /// row. (Calling `started` visits each worker, so it is done rarely.)
    pub(crate) fn yields_in_vain(&self, most: u32, started: impl Fn() -> u64) -> bool {
        let (before, count) = self.yields.get();
        if count < most {
            self.yields.set((before, count + 1));
            return false;
        }
        let now = started();
        self.yields.set((now, if now == before { count } else { 0 }));
        now == before
    }

    /// Parks in a wait that helps, until there may be something to help with.
    #[cold]
    pub(crate) fn nap(&self) {
        let naps = self.naps.get();
        self.naps.set(naps + 1);
        let most = if self.shared.is_strict() { STRICT_DOUBLINGS } else { DOUBLINGS };
        self.block(Some(Instant::now() + NAP * 2u32.pow(naps.min(most))));
    }

    /// Runs `f`, which `caller` called and waits for here, with the caller's mask and limit and
    /// `masks` more masks.
    pub(crate) fn act_for<R>(&self, caller: &Self, masks: u32, f: impl FnOnce() -> R) -> R {
        self.with_mask_and_limit(caller.masks.get() + masks, caller.limit.get(), f)
    }

    /// Runs `f`, work that others left, on top of a wait, without the task's mask and limit.
    pub(crate) fn unhindered<R>(&self, f: impl FnOnce() -> R) -> R {
        let result = self.with_mask_and_limit(0, std::ptr::null(), f);
        self.begin_helping();
        result
    }

    fn with_mask_and_limit<R>(&self, masks: u32, limit: *const Limit, f: impl FnOnce() -> R) -> R {
        /// Restores on drop, because `f` may unwind.
        struct Restore<'a>(&'a Fiber, u32, *const Limit);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.masks.set(self.1);
                self.0.limit.set(self.2);
            }
        }
        let masks = self.masks.replace(masks);
        let _restore = Restore(self, masks, self.limit.replace(limit));
        f()
    }
}
