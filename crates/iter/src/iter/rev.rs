//! `rev`.

use super::IndexedParallelIterator;
use super::adapter::adapter;
use super::indexed::indexed;
use super::plumbing::{Producer, ProducerCallback};

adapter! {
    /// The items from the last to the first: what [`rev`](IndexedParallelIterator::rev) returns.
    Rev { base }
}

indexed! {
    impl[I] Rev<I> => I::Item;
    where { I: IndexedParallelIterator }
    len = |this| this.base.len();
    with_producer = |this, callback| {
        let len = this.base.len();
        this.base.with_producer(Callback { callback, len })
    };
}

struct Callback<CB> {
    callback: CB,
    len: usize,
}

impl<T, CB: ProducerCallback<T>> ProducerCallback<T> for Callback<CB> {
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        self.callback.callback(Reversed { base, len: self.len })
    }
}

struct Reversed<P> {
    base: P,
    len: usize,
}

impl<P: Producer> Producer for Reversed<P> {
    type Item = P::Item;
    type IntoIter = std::iter::Rev<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().rev()
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let others = self.len - index;
        let (left, right) = self.base.split_at(others);
        (Self { base: right, len: index }, Self { base: left, len: others })
    }
}
