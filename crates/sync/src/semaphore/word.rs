//! The packed word of a semaphore.
//!
//! | bits | field | meaning | set by |
//! |---|---|---|---|
//! | 0 | `CLOSED` | no permits are given any more | `close`, for good |
//! | 1 | `WAITERS` | the queue may not be empty | a waiter that joins, under the queue's lock |
//! | 2 | `WAKING` | one waiter is on its way, or is being taken out | a putter, a leaver |
//! | 4..20 | `need` | what the front waiter wants, or less | the new front; see below |
//! | 20..64 | `permits` | free permits | takers and putters |
//!
//! `need` is a lower bound, so that permits that cannot satisfy the front waiter do not wake it. It
//! is 1 if unknown, and saturates: above 65,535 the front is woken for some returns that do not
//! suffice.

pub(super) const CLOSED: u64 = 1;
pub(super) const WAITERS: u64 = 2;
pub(super) const WAKING: u64 = 4;
const NEED_SHIFT: u32 = 4;
const NEED_MAX: u64 = 0xFFFF;
const PERMITS_SHIFT: u32 = 20;

/// Most permits of a semaphore: 2^44 - 1, or 2^31 - 1 where a `usize` has 32 bits. So each number
/// of permits is a `usize`, and `usize::MAX` is too many on all processors.
pub(super) const MAX: u64 =
    if usize::BITS < 64 { u64::MAX >> 33 } else { u64::MAX >> PERMITS_SHIFT };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

impl Word {
    pub(super) const fn new(permits: u64) -> Self {
        Self(permits << PERMITS_SHIFT)
    }

    #[inline]
    pub(super) fn has(self, flags: u64) -> bool {
        self.0 & flags != 0
    }

    #[inline]
    pub(super) fn permits(self) -> u64 {
        self.0 >> PERMITS_SHIFT
    }

    /// The least that the front waiter wants.
    #[inline]
    pub(super) fn need(self) -> u64 {
        (self.0 >> NEED_SHIFT) & NEED_MAX
    }

    #[inline]
    #[must_use]
    pub(super) fn with(self, flags: u64) -> Self {
        Self(self.0 | flags)
    }

    #[inline]
    #[must_use]
    pub(super) fn without(self, flags: u64) -> Self {
        Self(self.0 & !flags)
    }

    #[must_use]
    pub(super) fn with_need(self, need: u64) -> Self {
        Self((self.0 & !(NEED_MAX << NEED_SHIFT)) | (need.min(NEED_MAX) << NEED_SHIFT))
    }

    /// With `n` fewer permits, if there are enough.
    #[inline]
    pub(super) fn less(self, n: u64) -> Option<Self> {
        (n <= self.permits()).then(|| Self(self.0 - (n << PERMITS_SHIFT)))
    }

    /// With `n` more permits, if there is room.
    #[inline]
    pub(super) fn more(self, n: u64) -> Option<Self> {
        (n <= MAX - self.permits()).then(|| Self(self.0 + (n << PERMITS_SHIFT)))
    }
}
