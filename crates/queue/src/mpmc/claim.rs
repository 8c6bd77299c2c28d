//! Slots of a segment that belong to one thread.

use super::segment::Segment;

/// Slots claimed for writing or reading.
pub(super) struct Claim<T> {
    pub(super) segment: Segment<T>,
    pub(super) offset: usize,
    pub(super) slots: usize,
    /// These slots include the segment's last one.
    pub(super) last: bool,
    /// How many slots a little further on will be wanted soon.
    pub(super) fetch: usize,
}

impl<T> Claim<T> {
    /// Fetches the lines that consumers will need soon.
    ///
    /// # Safety
    /// A claimed slot has not been read.
    #[inline(always)]
    pub(super) unsafe fn fetch_ahead(&self) {
        if cfg!(loom) {
            return;
        }
        self.segment.fetch(self.offset, self.fetch);
        // SAFETY: the slot keeps the segment live.
        unsafe { self.segment.fetch_next(self.offset, self.slots) };
    }
}
