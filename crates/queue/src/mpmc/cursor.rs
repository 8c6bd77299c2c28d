//! The packed word of either end of the queue.
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 63..1 | position | counts slots; `position % LAP` is the offset in the segment |
//! | 0 | more | head: a segment after this one exists, so the tail need not be read |
//! | 0 | closed | tail: no more items may be put in |
//!
//! An offset of `LAP - 1` names no slot: the end is moving to the next segment, and other threads
//! wait for it.

use std::fmt;

/// Slots in a segment, plus one. A power of two, so that positions may wrap.
///
/// Segments are sized to about 4 KiB: items of up to 64 bytes come 63 to a segment, large ones 3.
pub(super) const fn lap<T>() -> u64 {
    let size = size_of::<T>();
    if cfg!(loom) {
        // Few slots, so that the model crosses from segment to segment.
        return if size <= 64 { 4 } else { 2 };
    }
    if size <= 64 {
        64
    } else if size <= 512 {
        16
    } else {
        4
    }
}

/// One end of the queue as a value; see the module's table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor(pub(super) u64);

impl Cursor {
    const MORE: u64 = 1;
    const CLOSED: u64 = 1;
    const STEP: u64 = 2;

    /// The start of a queue whose first slot has position `position`.
    pub(super) const fn at(position: u64) -> Self {
        Self(position << 1)
    }

    /// The position with the flag cleared.
    pub(super) const fn position(self) -> u64 {
        self.0 >> 1
    }

    pub(super) fn offset<T>(self) -> usize {
        (self.position() % lap::<T>()) as usize
    }

    pub(super) fn same_segment<T>(self, other: Self) -> bool {
        self.position() / lap::<T>() == other.position() / lap::<T>()
    }

    /// `slots` further; the flag stays.
    pub(super) fn advanced(self, slots: usize) -> Self {
        Self(self.0.wrapping_add(Self::STEP.wrapping_mul(slots as u64)))
    }

    pub(super) fn is_closed(self) -> bool {
        self.0 & Self::CLOSED != 0
    }

    pub(super) fn closed(self) -> Self {
        Self(self.0 | Self::CLOSED)
    }

    pub(super) fn has_more(self) -> bool {
        self.0 & Self::MORE != 0
    }

    pub(super) fn with_more(self, more: bool) -> Self {
        Self(if more { self.0 | Self::MORE } else { self.0 & !Self::MORE })
    }

    /// Whether it stands before `position`.
    #[inline(always)]
    pub(super) fn is_before(self, position: u64) -> bool {
        // Positions have 63 bits.
        (position.wrapping_sub(self.position()) << 1) as i64 > 0
    }

    /// How many of the `rest` slots of this segment from `self` on are before `tail`, and whether
    /// `tail` is in a later segment. Zero if `tail` is an old one, behind.
    #[inline]
    pub(super) fn ahead_of<T>(self, tail: Self, rest: usize) -> (usize, bool) {
        if !self.is_before(tail.position()) {
            return (0, false);
        }
        if !self.same_segment::<T>(tail) {
            return (rest, true);
        }
        // In one segment, so the difference is small.
        (tail.position().wrapping_sub(self.position()) as usize, false)
    }

    /// Slots from `self` up to `later`, nameless offsets not counted.
    pub(super) fn slots_until<T>(self, later: Self) -> usize {
        // An end that is moving on already counts as the start of the next segment.
        let past_gap = |cursor: Self| {
            let position = cursor.position();
            let skip = u64::from(position % lap::<T>() == lap::<T>() - 1);
            position.wrapping_add(skip)
        };
        let (from, to) = (past_gap(self), past_gap(later));
        // Positions have 63 bits.
        let distance = (to.wrapping_sub(from) << 1) >> 1;
        let laps = (from % lap::<T>() + distance) / lap::<T>();
        (distance - laps) as usize
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.position(), if self.has_more() { "+" } else { "" })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn laps_are_counted_across_segments_and_the_wrap() {
        for start in [0, 1, 62, 64, u64::MAX / 2 - 200, u64::MAX / 2 - 63] {
            let mut cursor = Cursor::at(start).with_more(false);
            let first = cursor;
            let mut slots = 0;
            for _ in 0..400 {
                assert_eq!(first.slots_until::<u8>(cursor), slots);
                if cursor.offset::<u8>() < 63 && first.offset::<u8>() < 63 {
                    slots += 1;
                }
                cursor = cursor.advanced(1);
            }
        }
    }
}
