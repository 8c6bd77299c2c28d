//! Indices and the packed word that thieves compete for.
//!
//! Indices count items and wrap at 2^32. A deque holds less than 2^31 items, so the sign of a wrapped
//! difference tells which of two indices is ahead.
//!
//! The word `top`:
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 31..0 | index | the oldest item; grows by one with each item claimed here |
//! | 63..32 | generation | grows when the owner has to make every exchange in flight fail |
//!
//! The generation's low bit says in which half of the root the buffer is found. Either field comes
//! round after 2^32 changes; an exchange would have to be delayed for exactly as many.

use std::fmt;

/// A value of the word `top`; see the module's table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Top(pub(crate) u64);

impl Top {
    /// Added to the word, raises the generation and leaves the index.
    pub(crate) const GENERATION: u64 = 1 << 32;

    #[inline(always)]
    pub(crate) const fn new(generation: u32, index: u32) -> Self {
        Self((generation as u64) << 32 | index as u64)
    }

    #[inline(always)]
    pub(crate) const fn index(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(crate) const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Which half of the root holds this generation's buffer.
    #[inline(always)]
    pub(crate) const fn half(self) -> usize {
        (self.generation() & 1) as usize
    }

    /// `items` claimed.
    #[inline(always)]
    pub(crate) const fn claimed(self, items: u32) -> Self {
        Self::new(self.generation(), self.index().wrapping_add(items))
    }

    /// The next generation.
    #[inline(always)]
    pub(crate) const fn next_generation(self) -> Self {
        Self(self.0.wrapping_add(Self::GENERATION))
    }
}

impl fmt::Debug for Top {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.index(), self.generation())
    }
}

/// How far `to` is ahead of `from`; negative if it is behind.
#[inline(always)]
pub(crate) const fn gap(from: u32, to: u32) -> i32 {
    to.wrapping_sub(from) as i32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn fields_wrap_without_touching_each_other() {
        let top = Top::new(u32::MAX, u32::MAX);
        assert_eq!(top.claimed(2), Top::new(u32::MAX, 1));
        assert_eq!(top.next_generation(), Top::new(0, u32::MAX));
        assert_eq!((top.half(), top.next_generation().half()), (1, 0));
        assert_eq!(gap(u32::MAX, 1), 2);
        assert_eq!(gap(1, u32::MAX), -2);
    }
}
