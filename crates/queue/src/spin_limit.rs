//! Adaptive spinning at one end of a queue: how long a caller waits for a run of items, or of room.
//!
//! A consumer that has caught up with the producer takes the line that the producer is writing,
//! once for each item, and both go at the speed of the line. A consumer that lets the producer get
//! ahead first takes a run of items at full speed. So a caller that comes from a success and finds
//! the next slot not ready spins before it looks further.
//!
//! The limit is learned: it doubles when a spin paid off and halves when it did not. A caller that
//! has been told "nothing" at a position asks again there without spinning.

use crate::prim::{AtomicU32, AtomicU64, Ordering, const_except_loom};
use sateen_base::prim::spin_loop;

/// What one end of a queue has learned. Any thread may store anything here: these are guesses.
pub(crate) struct SpinLimit {
    /// The position at which a caller was last told "nothing".
    empty_at: AtomicU64,
    /// How many pauses the next spin takes.
    pauses: AtomicU32,
    /// The longest spin, in pauses.
    max: u32,
}

impl SpinLimit {
    const_except_loom! {
        /// The end stands at `position`, where a caller has been told "nothing". Spins are limited
        /// to a part of `capacity`: no longer run of items fits.
        pub(crate) const fn new(position: u64, capacity: usize) -> Self {
            let part = capacity / 4;
            // An item takes a pause or less; 64 pauses are a microsecond or two.
            let max = if part < 64 { part as u32 } else { 64 };
            Self { empty_at: AtomicU64::new(position), pauses: AtomicU32::new(0), max }
        }
    }

    /// The slot at `position` was not ready: spins if that may help. Returns whether it is `ready`
    /// then.
    #[inline]
    pub(crate) fn spin_until(&self, position: u64, ready: impl Fn() -> bool) -> bool {
        if !self.may_help(position) {
            return false;
        }
        let pauses = self.pauses.load(Ordering::Relaxed);
        (0..pauses.max(1)).for_each(|_| spin_loop());
        let ready = ready();
        self.learn(pauses, ready);
        ready
    }

    /// The caller at `position` has used up what it knew of the other side: spins if that may help,
    /// then calls `look`, which counts what is ready now.
    #[inline]
    pub(crate) fn spin_then(&self, position: u64, look: impl FnOnce() -> usize) -> usize {
        if !self.may_help(position) {
            return look();
        }
        let pauses = self.pauses.load(Ordering::Relaxed);
        (0..pauses).for_each(|_| spin_loop());
        let there = look();
        // Where there is plenty, a longer spin would bring nothing.
        self.learn(pauses, there > 0 && there < 2 * self.max as usize);
        there
    }

    /// A caller is being told "nothing" at `position`.
    #[inline]
    pub(crate) fn found_nothing(&self, position: u64) {
        if self.may_help(position) {
            self.empty_at.store(position, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn may_help(&self, position: u64) -> bool {
        // A model has no time.
        !cfg!(loom) && self.max > 0 && self.empty_at.load(Ordering::Relaxed) != position
    }

    #[inline]
    fn learn(&self, pauses: u32, helped: bool) {
        let next = if helped { (2 * pauses).clamp(1, self.max) } else { pauses / 2 };
        if next != pauses {
            self.pauses.store(next, Ordering::Relaxed);
        }
    }
}
