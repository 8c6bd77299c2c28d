//! How a fiber that [helps](crate::help) sleeps while it has nothing to help with.

use super::Fiber;
use crate::standoff::Patience;
use crate::time::Limit;
use sateen_base::prim::time::{Duration, Instant};
use std::ops::Range;

/// How long a wait in which a fiber helps sleeps between two looks, at first. The time doubles
/// [`DOUBLINGS`] times.
const NAP: Duration = Duration::from_micros(250);
const DOUBLINGS: u32 = 5;
/// The same in a strict runtime, where substitutes take what it could help with, and hundreds of
/// fibers may wait.
const STRICT_DOUBLINGS: u32 = 10;
/// After so many of these sleeps it looks out for [standoffs](crate::standoff).
const PATIENT: u32 = 2;

impl Fiber {
    /// What the fiber remembers of the present wait, if that has lasted for a while.
    pub(crate) fn patience(&self) -> Option<Patience> {
        (self.naps.get() >= PATIENT).then(|| self.patience.get())
    }

    /// The present wait is for the `pieces` at these addresses.
    pub(crate) fn waits_for_pieces(&self, pieces: &Range<usize>) {
        let mut patience = self.patience.get();
        patience.waits_for(pieces);
        self.patience.set(patience);
    }

    pub(crate) fn set_patience(&self, patience: Patience) {
        self.patience.set(patience);
    }

    /// A wait begins in which it helps; or the present one begins anew, for it has helped.
    pub(crate) fn begin_helping(&self) {
        self.naps.set(0);
        self.patience.take();
    }

    /// Notes a yield. Returns whether nothing has been `started` during the last yields, more than
    /// `most` of them. (To ask that costs a look at each worker, and so is done seldom.)
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

    /// Parks in a wait in which it helps: until something may have come to help with.
    #[cold]
    pub(crate) fn nap(&self) {
        let naps = self.naps.get();
        self.naps.set(naps + 1);
        let most = if self.shared.is_strict() { STRICT_DOUBLINGS } else { DOUBLINGS };
        self.block(Some(Instant::now() + NAP * 2u32.pow(naps.min(most))));
    }

    /// Runs `f`, which `caller` has called here and waits for: its mask and limit are for it, and
    /// `masks` more.
    pub(crate) fn act_for<R>(&self, caller: &Self, masks: u32, f: impl FnOnce() -> R) -> R {
        self.with_mask_and_limit(caller.masks.get() + masks, caller.limit.get(), f)
    }

    /// Runs `f`, work that others left, on top of a wait: the task's mask and limit are not for it.
    pub(crate) fn unhindered<R>(&self, f: impl FnOnce() -> R) -> R {
        let result = self.with_mask_and_limit(0, std::ptr::null(), f);
        self.begin_helping();
        result
    }

    fn with_mask_and_limit<R>(&self, masks: u32, limit: *const Limit, f: impl FnOnce() -> R) -> R {
        /// A drop ends it, for `f` may unwind.
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
