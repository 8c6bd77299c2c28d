//! `by_exponential_blocks` and `by_uniform_blocks`: one block after the other, each in parallel.

use super::plumbing::{
    Producer, ProducerCallback, Reducer, UnindexedConsumer, bridge_producer_consumer,
};
use super::{IndexedParallelIterator, ParallelIterator};
use sateen_base::unwind::Held;

/// Blocks that become larger:
/// what [`by_exponential_blocks`](IndexedParallelIterator::by_exponential_blocks) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct ExponentialBlocks<I> {
    base: I,
}

/// Blocks of one size:
/// what [`by_uniform_blocks`](IndexedParallelIterator::by_uniform_blocks) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct UniformBlocks<I> {
    base: I,
    /// Not 0.
    block_size: usize,
}

impl<I> ExponentialBlocks<I> {
    pub(super) fn new(base: I) -> Self {
        Self { base }
    }
}

impl<I> UniformBlocks<I> {
    #[track_caller]
    pub(super) fn new(base: I, block_size: usize) -> Self {
        assert!(block_size != 0, "`block_size` must not be 0");
        Self { base, block_size }
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for ExponentialBlocks<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let len = self.base.len();
        let first = sateen_runtime::iter::workers().max(1);
        self.base.with_producer(Blocks { consumer, len, size: first, factor: 2 })
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for UniformBlocks<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let len = self.base.len();
        self.base.with_producer(Blocks { consumer, len, size: self.block_size, factor: 1 })
    }
}

struct Blocks<C> {
    consumer: C,
    len: usize,
    /// The size of the next block.
    size: usize,
    /// By how much the one after it is larger.
    factor: usize,
}

impl<T, C: UnindexedConsumer<T>> ProducerCallback<T> for Blocks<C> {
    type Output = C::Result;

    fn callback<P: Producer<Item = T>>(self, mut producer: P) -> C::Result {
        let Self { mut consumer, mut len, mut size, factor } = self;
        // What the blocks so far have become, and what joins it with the next.
        let mut done: Option<(Held<C::Result>, C::Reducer)> = None;
        loop {
            let is_last = len <= size || consumer.full();
            let (block, next) = if is_last {
                (bridge_producer_consumer(len, producer, consumer), None)
            } else {
                let (first, rest) = producer.split_at(size);
                let (left, right, seam) = consumer.split_at(size);
                let block = bridge_producer_consumer(size, first, left);
                len -= size;
                size = size.saturating_mul(factor);
                (block, Some((rest, right, seam)))
            };
            let block = match done.take() {
                Some((before, seam)) => seam.reduce(before.release(), block),
                None => block,
            };
            let Some((rest, right, seam)) = next else {
                return block;
            };
            done = Some((Held::new(block), seam));
            (producer, consumer) = (rest, right);
        }
    }
}
