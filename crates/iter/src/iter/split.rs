//! `split`: data that a function can halve.

use super::ParallelIterator;
use super::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use std::fmt;

/// An iterator over pieces of `data`. `splitter` halves a piece, or returns it whole with `None`.
///
/// Pieces are halved a few times for each worker, and further wherever a half is stolen.
///
/// ```
/// use sateen::prelude::*;
/// let halve = |range: std::ops::Range<u32>| {
///     let middle = range.start + (range.end - range.start) / 2;
///     match middle > range.start {
///         true => (range.start..middle, Some(middle..range.end)),
///         false => (range, None),
///     }
/// };
/// let sums = sateen::iter::split(0..100, halve).map(|piece| piece.sum::<u32>());
/// assert_eq!(sums.sum::<u32>(), 4950);
/// ```
pub fn split<D, S>(data: D, splitter: S) -> Split<D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync,
{
    Split { data, splitter }
}

/// Pieces of data: what [`split`] returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone)]
pub struct Split<D, S> {
    data: D,
    splitter: S,
}

impl<D: fmt::Debug, S> fmt::Debug for Split<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Split").field("data", &self.data).finish_non_exhaustive()
    }
}

impl<D, S> ParallelIterator for Split<D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync + Send,
{
    type Item = D;

    fn drive_unindexed<C: UnindexedConsumer<D>>(self, consumer: C) -> C::Result {
        let Self { data, splitter } = self;
        bridge_unindexed(Pieces { data, splitter: &splitter }, consumer)
    }
}

struct Pieces<'f, D, S> {
    data: D,
    splitter: &'f S,
}

impl<D: Send, S: Fn(D) -> (D, Option<D>) + Sync> UnindexedProducer for Pieces<'_, D, S> {
    type Item = D;

    fn split(self) -> (Self, Option<Self>) {
        let splitter = self.splitter;
        let (data, other) = splitter(self.data);
        (Self { data, splitter }, other.map(|data| Self { data, splitter }))
    }

    fn fold_with<F: Folder<D>>(self, folder: F) -> F {
        folder.consume(self.data)
    }
}
