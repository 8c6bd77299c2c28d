//! `zip`.

use super::IndexedParallelIterator;
use super::indexed::indexed;
use super::plumbing::{Producer, ProducerCallback};

/// Pairs of items: what [`zip`](IndexedParallelIterator::zip) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Zip<A, B> {
    a: A,
    b: B,
}

impl<A, B> Zip<A, B> {
    pub(super) fn new(a: A, b: B) -> Self {
        Self { a, b }
    }
}

indexed! {
    impl[A, B] Zip<A, B> => (A::Item, B::Item);
    where { A: IndexedParallelIterator, B: IndexedParallelIterator }
    len = |this| this.a.len().min(this.b.len());
    with_producer = |this, callback| this.a.with_producer(First { callback, b: this.b });
}

/// Waits for the first producer.
struct First<CB, B> {
    callback: CB,
    b: B,
}

/// Has the first producer, and waits for the second.
struct Second<CB, P> {
    callback: CB,
    a: P,
}

impl<T, CB, B> ProducerCallback<T> for First<CB, B>
where
    B: IndexedParallelIterator,
    CB: ProducerCallback<(T, B::Item)>,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, a: P) -> CB::Output {
        self.b.with_producer(Second { callback: self.callback, a })
    }
}

impl<T, CB, A> ProducerCallback<T> for Second<CB, A>
where
    A: Producer,
    CB: ProducerCallback<(A::Item, T)>,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, b: P) -> CB::Output {
        self.callback.callback(Zipped { a: self.a, b })
    }
}

struct Zipped<A, B> {
    a: A,
    b: B,
}

impl<A: Producer, B: Producer> Producer for Zipped<A, B> {
    type Item = (A::Item, B::Item);
    type IntoIter = std::iter::Zip<A::IntoIter, B::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.a.into_iter().zip(self.b.into_iter())
    }

    fn min_len(&self) -> usize {
        self.a.min_len().max(self.b.min_len())
    }

    fn max_len(&self) -> usize {
        self.a.max_len().min(self.b.max_len())
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (a, more_a) = self.a.split_at(index);
        let (b, more_b) = self.b.split_at(index);
        (Self { a, b }, Self { a: more_a, b: more_b })
    }
}
