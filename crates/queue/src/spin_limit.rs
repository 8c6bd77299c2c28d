//! Waiting for a run of items, or of room, instead of chasing the other side item by item.
//!
//! A consumer that has caught up and looks at once takes the line that a producer is writing, for each item: both
//! go at the speed of the line. One that lets the producer get ahead first takes a run at full speed. So who comes
//! from a success to a place that is not ready pauses before it looks further. How long is learned: twice as long
//! next time if that brought something, half as long if not, down to one pause. Who has been told "nothing"
//! asks again without any.

use crate::prim::{AtomicU32, AtomicU64, Ordering, const_except_loom};
use sateen_base::prim::spin_loop;

/// What one end of a queue has learned. Anybody may store anything here: it is all guesses.
pub(crate) struct Patience {
    /// The place at which somebody was last told "nothing".
    told: AtomicU64,
    /// How long to wait next time.
    pauses: AtomicU32,
    /// The longest wait.
    most: u32,
}

impl Patience {
    const_except_loom! {
        /// Somebody has been told "nothing" at `place`. To wait for more than a part of `capacity` is of no use.
        pub(crate) const fn new(place: u64, capacity: usize) -> Self {
            let part = capacity / 4;
            // A pause is an item or more; 64 are a microsecond or two.
            let most = if part < 64 { part as u32 } else { 64 };
            Self { told: AtomicU64::new(place), pauses: AtomicU32::new(0), most }
        }
    }

    /// `place` was not ready: waits if that may help; whether it is `ready` then.
    #[inline]
    pub(crate) fn helps(&self, place: u64, ready: impl Fn() -> bool) -> bool {
        if !self.applies(place) {
            return false;
        }
        let pauses = self.pauses.load(Ordering::Relaxed);
        (0..pauses.max(1)).for_each(|_| spin_loop());
        let ready = ready();
        self.learn(pauses, ready);
        ready
    }

    /// The place is far behind the other side as last seen: waits if that may help, then `look`s how far the
    /// other side is.
    #[inline]
    pub(crate) fn before(&self, place: u64, look: impl FnOnce() -> usize) -> usize {
        if !self.applies(place) {
            return look();
        }
        let pauses = self.pauses.load(Ordering::Relaxed);
        (0..pauses).for_each(|_| spin_loop());
        let there = look();
        // Of what is plenty there need not be more.
        self.learn(pauses, there > 0 && there < 2 * self.most as usize);
        there
    }

    /// Somebody is being told "nothing" at `place`.
    #[inline]
    pub(crate) fn told(&self, place: u64) {
        if self.applies(place) {
            self.told.store(place, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn applies(&self, place: u64) -> bool {
        // A model has no time.
        !cfg!(loom) && self.most > 0 && self.told.load(Ordering::Relaxed) != place
    }

    #[inline]
    fn learn(&self, pauses: u32, helped: bool) {
        let next = if helped { (2 * pauses).clamp(1, self.most) } else { pauses / 2 };
        if next != pauses {
            self.pauses.store(next, Ordering::Relaxed);
        }
    }
}
