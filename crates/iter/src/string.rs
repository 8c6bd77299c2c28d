//! Parallel iterators over the characters of a `String` that leave it.

use crate::bounds::within;
use crate::iter::plumbing::UnindexedConsumer;
use crate::iter::{ParallelDrainRange, ParallelIterator};
use crate::str::ParallelString;
use std::ops::{Range, RangeBounds};

impl<'a> ParallelDrainRange<usize> for &'a mut String {
    type Iter = Drain<'a>;
    type Item = char;

    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'a> {
        let range = within(&range, self.len());
        for at in [range.start, range.end] {
            assert!(self.is_char_boundary(at), "byte {at} is inside of a character");
        }
        Drain { string: self, range }
    }
}

/// The characters of a range of bytes of a string, which leave it, also after a panic.
///
/// A range that is not within the string, or begins or ends inside of a character, panics. If the
/// iterator is leaked, the string keeps all.
///
/// ```
/// use sateen::prelude::*;
/// let mut text = "one two".to_owned();
/// assert_eq!(text.par_drain(3..).count(), 4);
/// assert_eq!(text, "one");
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Debug)]
pub struct Drain<'a> {
    string: &'a mut String,
    range: Range<usize>,
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        drop(self.string.drain(self.range.clone()));
    }
}

impl ParallelIterator for Drain<'_> {
    type Item = char;

    fn drive_unindexed<C: UnindexedConsumer<char>>(self, consumer: C) -> C::Result {
        self.string[self.range.clone()].par_chars().drive_unindexed(consumer)
    }
}
