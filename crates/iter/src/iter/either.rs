//! `Either`: one of two, as a value and as a parallel iterator.

use super::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use super::{IndexedParallelIterator, ParallelExtend, ParallelIterator};

/// One of two. As a parallel iterator it has the items of the one that it is.
///
/// ```
/// use sateen::iter::Either;
/// use sateen::prelude::*;
///
/// let order = |backwards| {
///     let numbers = (0..3).into_par_iter();
///     if backwards { Either::Left(numbers.rev()) } else { Either::Right(numbers) }
/// };
/// assert_eq!(order(true).collect::<Vec<_>>(), [2, 1, 0]);
/// assert_eq!(order(false).collect::<Vec<_>>(), [0, 1, 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Either<L, R> {
    /// The first of the two.
    Left(L),
    /// The second of the two.
    Right(R),
}

impl<L, R> ParallelIterator for Either<L, R>
where
    L: ParallelIterator,
    R: ParallelIterator<Item = L::Item>,
{
    type Item = L::Item;

    fn drive_unindexed<C: UnindexedConsumer<L::Item>>(self, consumer: C) -> C::Result {
        match self {
            Self::Left(items) => items.drive_unindexed(consumer),
            Self::Right(items) => items.drive_unindexed(consumer),
        }
    }

    fn opt_len(&self) -> Option<usize> {
        match self {
            Self::Left(items) => items.opt_len(),
            Self::Right(items) => items.opt_len(),
        }
    }
}

impl<L, R> IndexedParallelIterator for Either<L, R>
where
    L: IndexedParallelIterator,
    R: IndexedParallelIterator<Item = L::Item>,
{
    fn len(&self) -> usize {
        match self {
            Self::Left(items) => items.len(),
            Self::Right(items) => items.len(),
        }
    }

    fn drive<C: Consumer<L::Item>>(self, consumer: C) -> C::Result {
        match self {
            Self::Left(items) => items.drive(consumer),
            Self::Right(items) => items.drive(consumer),
        }
    }

    fn with_producer<CB: ProducerCallback<L::Item>>(self, callback: CB) -> CB::Output {
        match self {
            Self::Left(items) => items.with_producer(callback),
            Self::Right(items) => items.with_producer(callback),
        }
    }
}

impl<T: Send, L: ParallelExtend<T>, R: ParallelExtend<T>> ParallelExtend<T> for Either<L, R> {
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: super::IntoParallelIterator<Item = T>,
    {
        match self {
            Self::Left(target) => target.par_extend(par_iter),
            Self::Right(target) => target.par_extend(par_iter),
        }
    }
}
