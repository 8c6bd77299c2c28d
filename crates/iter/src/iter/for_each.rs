//! `for_each`, and ends that need no result.

use super::ParallelIterator;
use super::end::{End, Ended, apart};
use super::plumbing::{Folder, Producer, bridge_producer_consumer};

/// Calls a function with each item.
pub(crate) struct Each<'f, F>(&'f F);

impl<F> Clone for Each<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Each<'_, F> {}

pub(super) fn for_each<I, F>(items: I, op: &F)
where
    I: ParallelIterator,
    F: Fn(I::Item) + Sync,
{
    items.drive_unindexed(Ended(Each(op)));
}

/// Takes items whose effects are all that was wanted.
pub(crate) fn ignore<I: ParallelIterator<Item = ()>>(items: I) {
    for_each(items, &|()| ());
}

/// Makes the `len` items of `producer`, and drops them.
pub(super) fn drop_all<P: Producer>(len: usize, producer: P) {
    if len > 0 {
        bridge_producer_consumer(len, producer, Ended(Each(&drop::<P::Item>)));
    }
}

impl<T, F: Fn(T) + Sync> End<T> for Each<'_, F> {
    type Folder = Self;
    type Result = ();

    #[inline]
    fn folder(self) -> Self {
        self
    }

    #[inline]
    fn reduce(self, (): (), (): ()) {}
}

impl<T, F: Fn(T)> Folder<T> for Each<'_, F> {
    type Result = ();
    const FILLS: bool = false;

    #[inline]
    fn consume(self, item: T) -> Self {
        (self.0)(item);
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, iter: I) -> Self {
        apart(|| iter.into_iter().for_each(self.0));
        self
    }

    #[inline]
    fn complete(self) {}

    #[inline]
    fn full(&self) -> bool {
        false
    }
}
