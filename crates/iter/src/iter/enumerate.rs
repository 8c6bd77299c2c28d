//! `enumerate`.

use super::IndexedParallelIterator;
use super::adapter::adapter;
use super::indexed::indexed;
use super::plumbing::{Producer, ProducerCallback};
use std::iter::Zip;
use std::ops::Range;

adapter! {
    /// Items with their indices: what [`enumerate`](IndexedParallelIterator::enumerate) returns.
    Enumerate { base }
}

indexed! {
    impl[I] Enumerate<I> => (usize, I::Item);
    where { I: IndexedParallelIterator }
    len = |this| this.base.len();
    with_producer = |this, callback| this.base.with_producer(Callback(callback));
}

struct Callback<CB>(CB);

impl<T, CB: ProducerCallback<(usize, T)>> ProducerCallback<T> for Callback<CB> {
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        self.0.callback(Numbered { base, offset: 0 })
    }
}

/// Items from the index `offset` on.
struct Numbered<P> {
    base: P,
    offset: usize,
}

impl<P: Producer> Producer for Numbered<P> {
    type Item = (usize, P::Item);
    type IntoIter = Zip<Range<usize>, P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let base = self.base.into_iter();
        // An end of its own lets the iterator be walked backwards.
        (self.offset..self.offset.saturating_add(base.len())).zip(base)
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(index);
        let offset = self.offset;
        (Self { base: left, offset }, Self { base: right, offset: offset.wrapping_add(index) })
    }
}
