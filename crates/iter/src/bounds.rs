//! Ranges that users give, as indices.

use std::ops::{Bound, Range, RangeBounds};

/// The indices that `range` has in a collection of `len` items.
///
/// # Panics
/// If some are not there, or if the range ends before it starts.
pub(crate) fn within(range: &impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Unbounded => Some(0),
        Bound::Included(start) => Some(*start),
        Bound::Excluded(before) => before.checked_add(1),
    };
    let end = match range.end_bound() {
        Bound::Unbounded => Some(len),
        Bound::Included(last) => last.checked_add(1),
        Bound::Excluded(end) => Some(*end),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => start..end,
        _ => panic!(
            "the range {:?} to {:?} is not within {len} items",
            range.start_bound(),
            range.end_bound()
        ),
    }
}
