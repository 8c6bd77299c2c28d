//! Places in a ring, packed into a word.
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0..b | index | of the slot; below the capacity, which has at most `b` bits |
//! | b | closed | tail only: nothing may be put in any more |
//! | b+1..63 | lap | how often the ring has been gone round; wraps, and has 14 bits at least |
//!
//! A slot's turn is a byte. In lap `l` it is `2l` while free and `2l + 1` while full, modulo 256; taking the
//! item out makes it free for lap `l + 1`. Four turns that follow one another are all that is ever seen at a
//! place, so a byte tells them apart.

/// The last turn before they begin again at 0. In models four laps must do: two for the turns that
/// are near each other, and two for those of reserved places, which lie half way round.
pub(super) const LAST_TURN: u8 = if cfg!(loom) { 7 } else { u8::MAX };

/// A value of the tail or the head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place(u64);

impl Place {
    #[inline(always)]
    pub(super) const fn new(word: u64) -> Self {
        Self(word)
    }

    #[inline(always)]
    pub(super) const fn word(self) -> u64 {
        self.0
    }
}

/// How a ring's places are packed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    capacity: u64,
    /// The bit `closed`; the lap starts one further.
    closed: u64,
    /// Number of that bit.
    shift: u32,
    /// The bits of the index.
    mask: u64,
}

impl Shape {
    /// # Panics
    /// If `capacity` is 0 or above 2^48.
    pub(super) fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "capacity must be non-zero");
        assert!(capacity as u64 <= 1 << 48, "a capacity of {capacity} items is above 2^48");
        let closed = (capacity as u64).next_power_of_two();
        Self { capacity: capacity as u64, closed, shift: closed.trailing_zeros(), mask: closed - 1 }
    }

    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// The `count` slots from `place` on, at most a lap, in two parts: those in its lap, those in the next. Index of
    /// the first, how many, and a place that has the lap.
    #[inline(always)]
    pub(super) fn parts(&self, place: Place, count: usize) -> [(usize, usize, Place); 2] {
        let first = self.index(place);
        let here = count.min(self.capacity() - first);
        let round = (count - here).min(first);
        [(first, here, place), (0, round, self.advanced(place, here))]
    }

    /// The first place of lap `lap`, as far as laps are counted.
    pub(super) fn start(&self, lap: u64) -> Place {
        Place(lap << (self.shift + 1))
    }

    pub(super) fn closed_bit(&self) -> u64 {
        self.closed
    }

    #[inline(always)]
    pub(super) fn is_closed(&self, place: Place) -> bool {
        place.0 & self.closed != 0
    }

    /// The word without `closed`.
    #[inline(always)]
    pub(super) fn open(&self, place: Place) -> u64 {
        place.0 & !self.closed
    }

    #[inline(always)]
    pub(super) fn index(&self, place: Place) -> usize {
        (place.0 & self.mask) as usize
    }

    /// Turn of an empty slot in the place's lap.
    #[inline(always)]
    pub(super) fn free(&self, place: Place) -> u8 {
        // Twice the lap, which begins one bit further.
        (place.0 >> self.shift) as u8 & LAST_TURN & !1
    }

    /// Turn of a full slot in the place's lap.
    #[inline(always)]
    pub(super) fn full(&self, place: Place) -> u8 {
        self.free(place) | 1
    }

    /// Turn of an empty slot in the lap after the place's.
    #[inline(always)]
    pub(super) fn free_after(&self, place: Place) -> u8 {
        self.free(place).wrapping_add(2) & LAST_TURN
    }

    /// Turn of a full slot in the lap before the place's.
    pub(super) fn full_before(&self, place: Place) -> u8 {
        self.free(place).wrapping_sub(1) & LAST_TURN
    }

    /// The word of the same slot in the lap before.
    pub(super) fn lap_before(&self, place: Place) -> u64 {
        place.0.wrapping_sub(self.closed << 1)
    }

    /// The place after `place`, which is not closed.
    #[inline(always)]
    pub(super) fn next(&self, place: Place) -> Place {
        self.advanced(place, 1)
    }

    /// The place `count` after `place`, a lap later at most.
    #[inline(always)]
    pub(super) fn advanced(&self, place: Place, count: usize) -> Place {
        let index = place.0 & self.mask;
        let after = index + count as u64;
        if after < self.capacity {
            Place(place.0 + count as u64)
        } else {
            let next_lap = (place.0 - index).wrapping_add(self.closed << 1);
            Place(next_lap + (after - self.capacity))
        }
    }

    /// Places from `head` up to `tail`, at most a lap and a half; `closed` does not matter.
    pub(super) fn between(&self, head: Place, tail: Place) -> usize {
        let laps = (self.open(tail).wrapping_sub(self.start_of(head))) >> (self.shift + 1);
        let tail_at = laps.wrapping_mul(self.capacity).wrapping_add(self.index(tail) as u64);
        tail_at.wrapping_sub(self.index(head) as u64) as usize
    }

    /// The word of the first place in the place's lap.
    fn start_of(&self, place: Place) -> u64 {
        self.open(place) & !(self.closed - 1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn places_follow_one_another_round_the_ring_and_the_word() {
        for capacity in [1, 2, 3, 4, 5, 100] {
            let shape = Shape::new(capacity);
            let first = shape.start(u64::MAX - 2);
            let mut place = first;
            for step in 0..capacity * 6 {
                assert_eq!(shape.index(place), step % capacity);
                assert_eq!(shape.between(first, place), step);
                for further in 0..=capacity {
                    let there = (0..further).fold(place, |place, _| shape.next(place));
                    assert_eq!(shape.advanced(place, further), there);
                }
                assert!(!shape.is_closed(place));
                let closed = Place(place.word() | shape.closed_bit());
                assert_eq!(shape.between(first, closed), step);
                if step >= capacity {
                    let before = Place(shape.lap_before(place));
                    assert_eq!(shape.free_after(before), shape.free(place));
                    assert_eq!(shape.full(before), shape.full_before(place));
                    assert_eq!(shape.between(before, place), capacity);
                }
                place = shape.next(place);
            }
        }
    }
}
