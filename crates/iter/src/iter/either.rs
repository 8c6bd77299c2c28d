//! `Either` of the crate `either`, as a parallel iterator.

use super::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use super::{IndexedParallelIterator, ParallelExtend, ParallelIterator};
use either::Either;

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
