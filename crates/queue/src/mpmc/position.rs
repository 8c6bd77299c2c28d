//! Positions in a ring, packed into a word.
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0..b | index | of the slot; below the capacity, which has at most `b` bits |
//! | b | closed | tail only: no more items may be put in |
//! | b+1..63 | lap | how often the ring has been gone round; wraps, and has 14 bits at least |
//!
//! A slot's turn is a byte. In lap `l` it is `2l` while free and `2l + 1` while full, modulo 256;
//! taking the item out makes it free for lap `l + 1`. At one position threads see at most four
//! successive turns, so a byte tells them apart.

/// The last turn before they begin again at 0. In models there are four laps: two for the turns of
/// one time, and two for those of reserved slots, which lie half way round.
pub(super) const LAST_TURN: u8 = if cfg!(loom) { 7 } else { u8::MAX };

/// A value of the tail or the head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position(u64);

impl Position {
    #[inline(always)]
    pub(super) const fn new(word: u64) -> Self {
        Self(word)
    }

    #[inline(always)]
    pub(super) const fn word(self) -> u64 {
        self.0
    }
}

/// How a ring's positions are packed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    capacity: u64,
    /// The bit `closed`; the lap starts one bit further.
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

    /// The `count` slots from `position` on, at most a lap, in two parts: those in its lap, those
    /// in the next. Each part is the first index, the count, and a position in that lap.
    #[inline(always)]
    pub(super) fn parts(&self, position: Position, count: usize) -> [(usize, usize, Position); 2] {
        let first = self.index(position);
        let here = count.min(self.capacity() - first);
        let round = (count - here).min(first);
        [(first, here, position), (0, round, self.advanced(position, here))]
    }

    /// The first position of lap `lap`, as far as laps are counted.
    pub(super) fn start(&self, lap: u64) -> Position {
        Position(lap << (self.shift + 1))
    }

    pub(super) fn closed_bit(&self) -> u64 {
        self.closed
    }

    #[inline(always)]
    pub(super) fn is_closed(&self, position: Position) -> bool {
        position.0 & self.closed != 0
    }

    /// The word without `closed`.
    #[inline(always)]
    pub(super) fn open(&self, position: Position) -> u64 {
        position.0 & !self.closed
    }

    #[inline(always)]
    pub(super) fn index(&self, position: Position) -> usize {
        (position.0 & self.mask) as usize
    }

    /// Turn of an empty slot in the position's lap.
    #[inline(always)]
    pub(super) fn free(&self, position: Position) -> u8 {
        // Twice the lap, which begins one bit further.
        (position.0 >> self.shift) as u8 & LAST_TURN & !1
    }

    /// Turn of a full slot in the position's lap.
    #[inline(always)]
    pub(super) fn full(&self, position: Position) -> u8 {
        self.free(position) | 1
    }

    /// Turn of an empty slot in the lap after the position's.
    #[inline(always)]
    pub(super) fn free_after(&self, position: Position) -> u8 {
        self.free(position).wrapping_add(2) & LAST_TURN
    }

    /// Turn of a full slot in the lap before the position's.
    pub(super) fn full_before(&self, position: Position) -> u8 {
        self.free(position).wrapping_sub(1) & LAST_TURN
    }

    /// The word of the same slot in the lap before.
    pub(super) fn lap_before(&self, position: Position) -> u64 {
        position.0.wrapping_sub(self.closed << 1)
    }

    /// The position after `position`, which is not closed.
    #[inline(always)]
    pub(super) fn next(&self, position: Position) -> Position {
        self.advanced(position, 1)
    }

    /// The position `count` after `position`, at most a lap later.
    #[inline(always)]
    pub(super) fn advanced(&self, position: Position, count: usize) -> Position {
        let index = position.0 & self.mask;
        let after = index + count as u64;
        if after < self.capacity {
            Position(position.0 + count as u64)
        } else {
            let next_lap = (position.0 - index).wrapping_add(self.closed << 1);
            Position(next_lap + (after - self.capacity))
        }
    }

    /// Slots from `head` up to `tail`, at most a lap and a half; `closed` does not matter.
    pub(super) fn between(&self, head: Position, tail: Position) -> usize {
        let laps = (self.open(tail).wrapping_sub(self.start_of(head))) >> (self.shift + 1);
        let tail_at = laps.wrapping_mul(self.capacity).wrapping_add(self.index(tail) as u64);
        tail_at.wrapping_sub(self.index(head) as u64) as usize
    }

    /// The word of the first position in the position's lap.
    fn start_of(&self, position: Position) -> u64 {
        self.open(position) & !(self.closed - 1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn places_follow_one_another_round_the_ring_and_the_word() {
        for capacity in [1, 2, 3, 4, 5, if cfg!(miri) { 6 } else { 100 }] {
            let shape = Shape::new(capacity);
            let first = shape.start(u64::MAX - 2);
            let mut position = first;
            for step in 0..capacity * 6 {
                assert_eq!(shape.index(position), step % capacity);
                assert_eq!(shape.between(first, position), step);
                for further in 0..=capacity {
                    let there = (0..further).fold(position, |position, _| shape.next(position));
                    assert_eq!(shape.advanced(position, further), there);
                }
                assert!(!shape.is_closed(position));
                let closed = Position(position.word() | shape.closed_bit());
                assert_eq!(shape.between(first, closed), step);
                if step >= capacity {
                    let before = Position(shape.lap_before(position));
                    assert_eq!(shape.free_after(before), shape.free(position));
                    assert_eq!(shape.full(before), shape.full_before(position));
                    assert_eq!(shape.between(before, position), capacity);
                }
                position = shape.next(position);
            }
        }
    }
}
