//! The items that one claim on the unbounded queue took.

use super::claim::Claim;
use super::segment::Segment;
use super::unbounded::Unbounded;
use crate::trace::Traced;
use sateen_base::unwind::run_to_end;
use std::fmt;
use std::iter::FusedIterator;

/// Items taken with one claim; see [`Unbounded::pop_batch`].
pub struct Batch<'a, T> {
    queue: &'a Unbounded<T>,
    segment: Segment<T>,
    next: usize,
    end: usize,
    last: bool,
}

impl<'a, T> Batch<'a, T> {
    pub(super) fn new(queue: &'a Unbounded<T>, claim: Claim<T>) -> Self {
        let Claim { segment, offset, slots, last, .. } = claim;
        Self { queue, segment, next: offset, end: offset + slots, last }
    }
}

// SAFETY: the claimed items are this value's alone, and any one thread may take them.
unsafe impl<T: Send> Send for Batch<'_, T> {}

impl<T> Iterator for Batch<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.next == self.end {
            return None;
        }
        let offset = self.next;
        self.next += 1;
        // SAFETY: claimed by `pop_batch`, and read once.
        Some(unsafe { self.segment.read(offset, Traced::NO) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end - self.next, Some(self.end - self.next))
    }
}

impl<T> ExactSizeIterator for Batch<'_, T> {}
impl<T> FusedIterator for Batch<'_, T> {}

impl<T> Drop for Batch<'_, T> {
    fn drop(&mut self) {
        /// Leaves the slots, also if an item's destructor panics.
        struct Leave<'b, 'a, T>(&'b mut Batch<'a, T>);
        impl<T> Drop for Leave<'_, '_, T> {
            fn drop(&mut self) {
                let Batch { queue, segment, last, .. } = *self.0;
                queue.leave(segment, last);
            }
        }
        let leave = Leave(self);
        if leave.0.len() > 0 {
            run_to_end(|| leave.0.next().is_some());
        }
    }
}

impl<T> fmt::Debug for Batch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("left", &self.len()).finish_non_exhaustive()
    }
}
