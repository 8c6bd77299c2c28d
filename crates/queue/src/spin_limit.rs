//! Adaptive spinning at one end of a queue: how long a caller waits for a run of items, or of room.
//!
//! A consumer that has caught up with the producer takes the line that the producer is writing,
//! once for each item, and both go at the speed of the line. A consumer that lets the producer get
//! ahead first takes a run of items at full speed. So a caller that comes from a success and finds
//! the next slot not ready spins before it looks further.
//!
//! The limit is learned: it doubles when a spin paid off and halves when it did not. A spin paid
//! off if more came meanwhile: what was there before it, the caller itself may have put in. A
//! caller that has been told "nothing" at a position asks again there without spinning.

use crate::prim::{AtomicU32, AtomicU64, Ordering, const_except_loom};
use sateen_base::pause::pause;

/// An end whose spins have not paid off tries again at positions that this divides.
const PROBED: u64 = 64;

/// So many items, or so much room, are worth no spin.
const PLENTY: usize = 32;

/// What one end of a queue has learned. Any thread may store anything here: these are guesses.
pub(crate) struct SpinLimit {
    /// The position at which a caller was last told "nothing".
    empty_at: AtomicU64,
    /// How long the next spin takes, in units of [`sateen_base::pause`].
    units: AtomicU32,
    /// The longest spin.
    max: u32,
}

impl SpinLimit {
    const_except_loom! {
        /// The end stands at `position`, where a caller has been told "nothing". Spins are limited
        /// to a part of `capacity`: no longer run of items fits.
        pub(crate) const fn new(position: u64, capacity: usize) -> Self {
            let part = capacity / 4;
            // An item takes a unit or less; 64 units are two microseconds.
            let max = if part < 64 { part as u32 } else { 64 };
            Self { empty_at: AtomicU64::new(position), units: AtomicU32::new(0), max }
        }
    }

    /// The slot at `position` was not ready: spins if that may help. Returns whether it is `ready`
    /// then.
    #[inline]
    pub(crate) fn spin_until(&self, position: u64, ready: impl Fn() -> bool) -> bool {
        if !self.may_help(position) {
            return false;
        }
        let units = self.units.load(Ordering::Relaxed).max(1);
        pause(units);
        let ready = ready();
        self.learn(units, ready);
        ready
    }

    /// The caller at `position` has used up what it knew of the other side. Calls `look`, which
    /// counts what is ready now. If that is little it spins, if that may help, and looks again.
    #[inline]
    pub(crate) fn spin_then(&self, position: u64, mut look: impl FnMut() -> usize) -> usize {
        let before = look();
        // Where there is plenty, a spin brings nothing.
        if before >= PLENTY || !self.may_help(position) {
            return before;
        }
        if !self.spins_at(position) {
            return before;
        }
        let units = match self.units.load(Ordering::Relaxed) {
            0 => 2,
            learned => learned,
        };
        pause(units);
        let there = look();
        self.learn(units, there.saturating_sub(before) >= units.div_ceil(2) as usize);
        there
    }

    /// Whether a caller that will wait should look and spin here first. Not at an end of a ring of
    /// less than 16 slots, where runs are short: that caller looks at its slot instead.
    #[inline(always)]
    pub(crate) fn is_worthwhile(&self) -> bool {
        self.max >= 4
    }

    /// Whether [`spin_then`](Self::spin_then) may spin at `position`.
    #[inline(always)]
    pub(crate) fn spins_at(&self, position: u64) -> bool {
        position.is_multiple_of(PROBED) || self.units.load(Ordering::Relaxed) > 0
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
    fn learn(&self, units: u32, helped: bool) {
        let next = if helped { (2 * units).min(self.max) } else { units / 2 };
        // An end that has learned that spins are of no use keeps its line clean.
        if next != self.units.load(Ordering::Relaxed) {
            self.units.store(next, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn units(limit: &SpinLimit) -> u32 {
        limit.units.load(Ordering::Relaxed)
    }

    #[test]
    fn what_was_there_before_teaches_nothing() {
        let limit = SpinLimit::new(0, 256);
        for position in 1..10 * PROBED {
            assert_eq!(limit.spin_then(position, || 1), 1);
        }
        assert!(units(&limit) <= 1);
    }

    #[test]
    fn runs_that_come_during_spins_make_them_longer() {
        let (limit, there) = (SpinLimit::new(0, 256), Cell::new(0));
        let look = || there.replace(if there.get() == 0 { 63 } else { 0 });
        for round in 1..10 {
            assert_eq!(limit.spin_then(round * PROBED, look), 63);
        }
        assert_eq!(units(&limit), limit.max);
        // Plenty: no spin, and nothing learned.
        assert_eq!(limit.spin_then(1, || 200), 200);
        assert_eq!(units(&limit), limit.max);
    }
}
