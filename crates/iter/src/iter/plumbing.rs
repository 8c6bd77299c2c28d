//! What parallel iterators are made of: for sources and adapters of your own.
//!
//! A *producer* holds items and can be split. A *consumer* is the other end: it is split at the
//! same places. Where no further split is wanted, the consumer becomes a *folder*, which takes the
//! items of that piece one by one. A *reducer* joins the results of two pieces.
//!
//! | You write | You implement |
//! |---|---|
//! | a source with a length | [`Producer`], and [`IndexedParallelIterator`] with [`bridge`] |
//! | a source that can only be halved | [`UnindexedProducer`], with [`bridge_unindexed`] |
//! | an adapter or an end | [`Consumer`], [`UnindexedConsumer`] and [`Folder`] |
//!
//! # How a loop is cut
//!
//! A source with a length is not cut in advance. A piece puts one half of its items on offer, and
//! works the other off in chunks of about five microseconds, found by a clock. It is halved again
//! when nothing of it is on offer any more. All chunks of a piece go to the same folder, if
//! the consumer can [extend](Consumer::extend_folder) it. Otherwise a folder gets a quarter of what
//! is left, so that a piece needs few of them.
//!
//! A source without a length is halved in advance, a few times for each worker, and further
//! wherever a half was stolen.
//!
//! ```
//! use sateen::iter::plumbing::{Consumer, ProducerCallback, UnindexedConsumer, bridge};
//! use sateen::prelude::*;
//!
//! /// The numbers below `end`, doubled.
//! struct Doubled {
//!     end: usize,
//! }
//!
//! impl ParallelIterator for Doubled {
//!     type Item = usize;
//!     fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
//!         bridge(self, consumer)
//!     }
//!     fn opt_len(&self) -> Option<usize> {
//!         Some(self.end)
//!     }
//! }
//!
//! impl IndexedParallelIterator for Doubled {
//!     fn len(&self) -> usize {
//!         self.end
//!     }
//!     fn drive<C: Consumer<usize>>(self, consumer: C) -> C::Result {
//!         bridge(self, consumer)
//!     }
//!     fn with_producer<CB: ProducerCallback<usize>>(self, callback: CB) -> CB::Output {
//!         (0..self.end).into_par_iter().map(|n| 2 * n).with_producer(callback)
//!     }
//! }
//!
//! assert_eq!(Doubled { end: 4 }.collect::<Vec<_>>(), [0, 2, 4, 6]);
//! ```

#[cfg(doc)]
use super::IndexedParallelIterator;

pub use crate::driver::{bridge, bridge_producer_consumer, bridge_unindexed};

/// What a producer is given to, whatever its type: a closure that is generic.
pub trait ProducerCallback<T> {
    /// What the call returns.
    type Output;

    /// Takes the producer.
    fn callback<P>(self, producer: P) -> Self::Output
    where
        P: Producer<Item = T>;
}

/// Items of a known number, which can be split at any index.
pub trait Producer: Send + Sized {
    /// The type of the items.
    type Item;

    /// Iterates over the items of a piece.
    type IntoIter: Iterator<Item = Self::Item> + DoubleEndedIterator + ExactSizeIterator;

    /// The items one by one.
    fn into_iter(self) -> Self::IntoIter;

    /// The least number of items worth a piece. Default: 1.
    fn min_len(&self) -> usize {
        1
    }

    /// The most items of a piece. Default: no limit.
    fn max_len(&self) -> usize {
        usize::MAX
    }

    /// Splits into the first `index` items and the rest.
    fn split_at(self, index: usize) -> (Self, Self);

    /// Feeds all items to `folder`, until it is full.
    #[inline]
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        folder.consume_iter(self.into_iter())
    }
}

/// What takes items, in pieces that are split at the same places as the producer's.
pub trait Consumer<Item>: Send + Sized {
    /// What takes the items of one piece.
    type Folder: Folder<Item, Result = Self::Result>;

    /// What joins the results of two pieces.
    type Reducer: Reducer<Self::Result>;

    /// What the items of a piece become.
    type Result: Send;

    /// Splits into a consumer of the first `index` items, one of the rest, and what joins their
    /// results.
    fn split_at(self, index: usize) -> (Self, Self, Self::Reducer);

    /// Begins a piece.
    fn into_folder(self) -> Self::Folder;

    /// Whether no more items are wanted.
    fn full(&self) -> bool;

    /// Lets `folder`, which has the items just before this consumer's, have the first `count` of
    /// these, too. False, with nothing changed, if that cannot be.
    ///
    /// It saves a folder, a result and a reduction for each chunk. An adapter passes the question
    /// on. Default: false.
    #[inline]
    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        let _ = (folder, count);
        false
    }
}

/// What takes the items of one piece, one by one.
pub trait Folder<Item>: Sized {
    /// What the items become.
    type Result;

    /// Whether it can ever be full. Adapters that let few items pass are faster if not.
    /// Default: true.
    const FILLS: bool = true;

    /// Takes an item.
    fn consume(self, item: Item) -> Self;

    /// Takes the items of `iter`, until it is full.
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = Item>,
    {
        consume_each(self, iter)
    }

    /// Ends the piece.
    fn complete(self) -> Self::Result;

    /// Whether no more items are wanted.
    fn full(&self) -> bool;
}

/// Gives `folder` the items of `iter`, and asks after each whether it is full.
#[inline]
pub(super) fn consume_each<T, F: Folder<T>>(mut folder: F, iter: impl IntoIterator<Item = T>) -> F {
    for item in iter {
        folder = folder.consume(item);
        if folder.full() {
            break;
        }
    }
    folder
}

/// What joins the results of two adjacent pieces.
pub trait Reducer<Result> {
    /// Joins them, in order.
    fn reduce(self, left: Result, right: Result) -> Result;
}

/// A consumer that can be split without knowing where.
pub trait UnindexedConsumer<I>: Consumer<I> {
    /// Splits off a consumer of some of the first items. `self` consumes the rest.
    fn split_off_left(&self) -> Self;

    /// What joins the results of the two.
    fn to_reducer(&self) -> Self::Reducer;
}

/// Items of unknown number, which can be split somewhere.
pub trait UnindexedProducer: Send + Sized {
    /// The type of the items.
    type Item;

    /// Splits into two, or returns itself if it cannot be split.
    fn split(self) -> (Self, Option<Self>);

    /// Feeds all items to `folder`, until it is full.
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>;
}
