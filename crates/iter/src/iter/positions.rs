//! `positions`.

use super::adapter::adapter;
use super::plumbing::UnindexedConsumer;
use super::{IndexedParallelIterator, ParallelIterator};

adapter! {
    /// Where the wanted items are: what [`positions`](IndexedParallelIterator::positions) returns.
    Positions { base, predicate }
}

impl<I, P> ParallelIterator for Positions<I, P>
where
    I: IndexedParallelIterator,
    P: Fn(I::Item) -> bool + Sync + Send,
{
    type Item = usize;

    fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
        let Self { base, predicate } = self;
        let wanted = |(index, item)| predicate(item).then_some(index);
        base.enumerate().filter_map(wanted).drive_unindexed(consumer)
    }
}
