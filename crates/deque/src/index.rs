//! Indices and the packed word that thieves compete for.
//!
//! Indices count items and wrap at 2^32: a *round*. The sign of a wrapped difference tells which of
//! two indices is ahead if they are less than half a round apart. The pairs that are compared:
//!
//! | compared | by | at most |
//! |---|---|---|
//! | `bottom`, `limit` | owner | the capacity, 2^30: `limit` is `resolved` plus it |
//! | `seen`, `bottom` | owner | the same: `catch_up` renews `seen` once a lap of pushes |
//! | `top`, `bottom` | owner | 2^30: it alone moves `bottom`, and reads `top` in the call |
//! | `floor`, `newest` | owner | 2^30: `floor` lies between `guard` or `top` and `bottom` |
//! | `guard`, `newest` | owner | 2^29 if it shares (`MAX_LAG`), and a batch of 2^29 |
//! | `top`, `bottom` | thief | no bound, if it sleeps between the two loads |
//! | `guard`, its end | thief | as for the owner: it looks at `top` after `guard` |
//! | `top`, `open` | thief | as for the owner, or the exchange of `top` fails |
//!
//! A thief that sleeps between `top` and `bottom` for over half a round sees a difference below -1,
//! which no state of the deque has: it looks again ([`none`]). If it sees a positive one, its
//! exchange of `top` fails. Only a sleep of exactly a round (of 2^32 claims, the generation being
//! the same) remains: at 10 ns a claim, 43 s that end within those 10 ns.
//!
//! The word `top`:
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 31..0 | index | the oldest item; grows by one with each item claimed here |
//! | 32 | half | which half of the root holds the buffer |
//! | 63..33 | epoch | grows when the owner has to make every exchange in flight fail |
//!
//! Half and epoch together are the *generation*. A new buffer adds one to it, which changes the
//! half; a new epoch of the same buffer adds two. Fields come round after 2^31 changes or more, and
//! an exchange would have to be delayed for exactly as many.

use crate::Steal;
use std::fmt;

/// A value of the word `top`; see the module's table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Top(pub(crate) u64);

impl Top {
    /// Added to the word, announces a new buffer.
    pub(crate) const NEW_BUFFER: u64 = 1 << 32;
    /// Added to the word, makes every exchange in flight fail, and nothing else.
    pub(crate) const NEW_EPOCH: u64 = 2 << 32;

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

    /// The value after `step`, one of the constants above, was added.
    #[inline(always)]
    pub(crate) const fn after(self, step: u64) -> Self {
        Self(self.0.wrapping_add(step))
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

/// What a thief answers that found `items`, 0 or less, between `top` and `bottom`. The owner lowers
/// `bottom` to one before `top` at most, and for a moment; what is less comes from a thief that
/// slept between the two loads.
#[inline]
pub(crate) const fn none<X>(items: i32) -> Steal<X> {
    if items >= -1 { Steal::Empty } else { Steal::Retry }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn fields_wrap_without_touching_each_other() {
        let top = Top::new(u32::MAX, u32::MAX);
        assert_eq!(top.claimed(2), Top::new(u32::MAX, 1));
        let next = top.after(Top::NEW_BUFFER);
        assert_eq!(next, Top::new(0, u32::MAX));
        assert_eq!((top.half(), next.half()), (1, 0));
        assert_eq!(top.after(Top::NEW_EPOCH), Top::new(1, u32::MAX));
        assert_eq!(gap(u32::MAX, 1), 2);
        assert_eq!(gap(1, u32::MAX), -2);
    }

    #[test]
    fn a_difference_that_no_deque_has_is_no_emptiness() {
        for bottom in [0, 7, i32::MAX as u32, 1 << 31, u32::MAX] {
            for pushed in [(1 << 31) + 1, 3 << 30, u32::MAX - 1] {
                assert_eq!(none::<()>(gap(bottom, bottom.wrapping_add(pushed))), Steal::Retry);
            }
            assert_eq!(none::<()>(gap(bottom, bottom)), Steal::Empty);
            assert_eq!(none::<()>(gap(bottom, bottom.wrapping_sub(1))), Steal::Empty);
        }
    }
}
