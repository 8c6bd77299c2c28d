//! The trait of parallel iterators that know their length.

use super::plumbing::{Consumer, ProducerCallback};
use super::{
    Chunks, Enumerate, ExponentialBlocks, FoldChunks, FoldChunksWith, Interleave,
    InterleaveShortest, IntoParallelIterator, MaxLen, MinLen, ParallelIterator, Positions, Rev,
    Skip, StepBy, Take, UniformBlocks, Zip, ZipEq,
};
use super::{collect, compare, methods};
use std::cmp::Ordering;

/// A parallel iterator that knows how many items it has, and where each one is.
///
/// ```
/// use sateen::prelude::*;
/// let squares: Vec<_> = (0..4).into_par_iter().zip([0, 1, 4, 9]).collect();
/// assert_eq!(squares, [(0, 0), (1, 1), (2, 4), (3, 9)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not know how many items it has",
    label = "no indexed parallel iterator",
    note = "after `filter`, `flat_map` and `chain` with such an iterator, in ranges of `u64` and \
            larger integers, and in ranges `a..=b` of more than 16 bits, positions are unknown"
)]
#[allow(clippy::len_without_is_empty, reason = "`ExactSizeIterator` has none either")]
pub trait IndexedParallelIterator: ParallelIterator {
    /// The number of items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((0..10).into_par_iter().zip(0..5).len(), 5);
    /// ```
    fn len(&self) -> usize;

    /// Drives `consumer` with the items, by indices.
    fn drive<C: Consumer<Self::Item>>(self, consumer: C) -> C::Result;

    /// Gives `callback` a producer of the items.
    fn with_producer<CB: ProducerCallback<Self::Item>>(self, callback: CB) -> CB::Output;

    methods::place! {}
    methods::chunks! {}
    methods::position! {}
    methods::cut! {}
    methods::compare! {}
    methods::collect_indexed! {}
}
