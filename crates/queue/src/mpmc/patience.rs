//! Waiting for a run of items, or of room, instead of chasing the other side item by item.
//!
//! A consumer that has caught up and looks at once takes the line that a producer is writing, twice for each
//! item: both go at the speed of the line. One that lets the producer get ahead first takes a run at full speed. So
//! who comes from a success to a place that is not ready pauses before it looks further. How long is
//! learned: twice as long next time if that was enough, half as long if not, down to a single pause. Who has
//! been told "nothing" asks again without any.

use crate::prim::{AtomicU32, AtomicU64, Ordering};
use sateen_base::prim::spin_loop;

/// What one end of a queue has learned. Anybody may store anything here: it is all guesses.
pub(super) struct Patience {
    /// The place at which somebody was last told "nothing".
    told: AtomicU64,
    pauses: AtomicU32,
}

impl Patience {
    /// About a microsecond or two, by which time 50 items may have come.
    const MOST: u32 = 64;

    /// Nobody has been told anything at any place before `place`.
    pub(super) fn new(place: u64) -> Self {
        Self { told: AtomicU64::new(place), pauses: AtomicU32::new(0) }
    }

    /// `place` was not ready: waits if that may help; whether it did.
    #[inline]
    pub(super) fn helps(&self, place: u64, ready: impl Fn() -> bool) -> bool {
        // A model has no time.
        if cfg!(loom) || self.told.load(Ordering::Relaxed) == place {
            return false;
        }
        let pauses = self.pauses.load(Ordering::Relaxed);
        (0..pauses.max(1)).for_each(|_| spin_loop());
        let ready = ready();
        let next = if ready { (2 * pauses).clamp(1, Self::MOST) } else { pauses / 2 };
        if next != pauses {
            self.pauses.store(next, Ordering::Relaxed);
        }
        ready
    }

    /// Somebody is being told "nothing" at `place`.
    #[inline]
    pub(super) fn told(&self, place: u64) {
        if !cfg!(loom) && self.told.load(Ordering::Relaxed) != place {
            self.told.store(place, Ordering::Relaxed);
        }
    }
}
