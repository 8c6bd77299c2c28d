//! `chain`.

use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer};
use super::{IndexedParallelIterator, ParallelIterator};
use sateen_runtime::join;

/// The items of two iterators: what [`chain`](ParallelIterator::chain) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Chain<A, B> {
    a: A,
    b: B,
}

impl<A, B> Chain<A, B> {
    pub(super) fn new(a: A, b: B) -> Self {
        Self { a, b }
    }
}

impl<A, B> ParallelIterator for Chain<A, B>
where
    A: ParallelIterator,
    B: ParallelIterator<Item = A::Item>,
{
    type Item = A::Item;

    fn drive_unindexed<C: UnindexedConsumer<A::Item>>(self, consumer: C) -> C::Result {
        let Self { a, b } = self;
        let (left, right, reducer) = match a.opt_len() {
            Some(len) => consumer.split_at(len),
            None => {
                let (left, reducer) = (consumer.split_off_left(), consumer.to_reducer());
                (left, consumer, reducer)
            }
        };
        let (a, b) = join(|| a.drive_unindexed(left), || b.drive_unindexed(right));
        reducer.reduce(a, b)
    }

    fn opt_len(&self) -> Option<usize> {
        self.a.opt_len()?.checked_add(self.b.opt_len()?)
    }
}

impl<A, B> IndexedParallelIterator for Chain<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item>,
{
    fn len(&self) -> usize {
        match self.a.len().checked_add(self.b.len()) {
            Some(len) => len,
            None => panic!("a chain of more than {} items", usize::MAX),
        }
    }

    fn drive<C: Consumer<A::Item>>(self, consumer: C) -> C::Result {
        let Self { a, b } = self;
        let (left, right, reducer) = consumer.split_at(a.len());
        let (a, b) = join(|| a.drive(left), || b.drive(right));
        reducer.reduce(a, b)
    }

    fn with_producer<CB: ProducerCallback<A::Item>>(self, callback: CB) -> CB::Output {
        let a_len = self.a.len();
        self.a.with_producer(First { callback, a_len, b: self.b })
    }
}

/// Waits for the first producer.
struct First<CB, B> {
    callback: CB,
    a_len: usize,
    b: B,
}

/// Has the first producer, and waits for the second.
struct Second<CB, P> {
    callback: CB,
    a_len: usize,
    a: P,
}

impl<CB, B> ProducerCallback<B::Item> for First<CB, B>
where
    B: IndexedParallelIterator,
    CB: ProducerCallback<B::Item>,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = B::Item>>(self, a: P) -> CB::Output {
        self.b.with_producer(Second { callback: self.callback, a_len: self.a_len, a })
    }
}

impl<CB, A> ProducerCallback<A::Item> for Second<CB, A>
where
    A: Producer,
    CB: ProducerCallback<A::Item>,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = A::Item>>(self, b: P) -> CB::Output {
        self.callback.callback(Chained { a: self.a, a_len: self.a_len, b })
    }
}

/// The first `a_len` items are `a`'s.
struct Chained<A, B> {
    a: A,
    a_len: usize,
    b: B,
}

impl<A: Producer, B: Producer<Item = A::Item>> Producer for Chained<A, B> {
    type Item = A::Item;
    type IntoIter = ChainedIter<A::IntoIter, B::IntoIter>;

    fn into_iter(self) -> Self::IntoIter {
        ChainedIter { inner: self.a.into_iter().chain(self.b.into_iter()) }
    }

    fn min_len(&self) -> usize {
        self.a.min_len().max(self.b.min_len())
    }

    fn max_len(&self) -> usize {
        self.a.max_len().min(self.b.max_len())
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { a, a_len, b } = self;
        if index <= a_len {
            let (a, more_a) = a.split_at(index);
            let (none, b) = b.split_at(0);
            (Self { a, a_len: index, b: none }, Self { a: more_a, a_len: a_len - index, b })
        } else {
            let (a, none) = a.split_at(a_len);
            let (b, more_b) = b.split_at(index - a_len);
            (Self { a, a_len, b }, Self { a: none, a_len: 0, b: more_b })
        }
    }

    fn fold_with<F: Folder<A::Item>>(self, folder: F) -> F {
        let folder = self.a.fold_with(folder);
        if folder.full() { folder } else { self.b.fold_with(folder) }
    }
}

/// A chain that knows its length, which `std`'s does not.
struct ChainedIter<A, B> {
    inner: std::iter::Chain<A, B>,
}

impl<A, B> Iterator for ChainedIter<A, B>
where
    A: Iterator,
    B: Iterator<Item = A::Item>,
{
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        self.inner.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }

    #[inline]
    fn fold<S, F: FnMut(S, A::Item) -> S>(self, init: S, f: F) -> S {
        self.inner.fold(init, f)
    }
}

impl<A, B> DoubleEndedIterator for ChainedIter<A, B>
where
    A: DoubleEndedIterator,
    B: DoubleEndedIterator<Item = A::Item>,
{
    #[inline]
    fn next_back(&mut self) -> Option<A::Item> {
        self.inner.next_back()
    }
}

impl<A, B> ExactSizeIterator for ChainedIter<A, B>
where
    A: ExactSizeIterator,
    B: ExactSizeIterator<Item = A::Item>,
{
}
