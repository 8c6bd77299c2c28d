//! `interleave` and `interleave_shortest`: items of two iterators in turn.

use super::indexed::indexed;
use super::plumbing::{Producer, ProducerCallback};
use super::{IndexedParallelIterator, Take};

/// Items of two iterators in turn: what [`interleave`](IndexedParallelIterator::interleave)
/// returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Interleave<I, J> {
    i: I,
    j: J,
}

impl<I, J> Interleave<I, J> {
    pub(super) fn new(i: I, j: J) -> Self {
        Self { i, j }
    }
}

/// Items of two iterators in turn, until one has none left:
/// what [`interleave_shortest`](IndexedParallelIterator::interleave_shortest) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct InterleaveShortest<I, J> {
    turns: Interleave<Take<I>, Take<J>>,
}

impl<I, J> InterleaveShortest<I, J>
where
    I: IndexedParallelIterator,
    J: IndexedParallelIterator<Item = I::Item>,
{
    pub(super) fn new(i: I, j: J) -> Self {
        // The first has one turn more, before the second has nothing to give.
        let from_i = i.len().min(j.len().saturating_add(1));
        let from_j = j.len().min(i.len());
        Self { turns: Interleave::new(i.take(from_i), j.take(from_j)) }
    }
}

indexed! {
    impl[I, J] Interleave<I, J> => I::Item;
    where { I: IndexedParallelIterator, J: IndexedParallelIterator<Item = I::Item> }
    len = |this| match this.i.len().checked_add(this.j.len()) {
        Some(len) => len,
        None => panic!("`interleave` of more than {} items", usize::MAX),
    };
    with_producer = |this, callback| {
        let (i_len, j_len) = (this.i.len(), this.j.len());
        this.i.with_producer(First { callback, i_len, j_len, j: this.j })
    };
}

indexed! {
    impl[I, J] InterleaveShortest<I, J> => I::Item;
    where { I: IndexedParallelIterator, J: IndexedParallelIterator<Item = I::Item> }
    len = |this| this.turns.len();
    with_producer = |this, callback| this.turns.with_producer(callback);
}

/// Waits for the first producer.
struct First<CB, J> {
    callback: CB,
    i_len: usize,
    j_len: usize,
    j: J,
}

/// Has the first producer, and waits for the second.
struct Second<CB, P> {
    callback: CB,
    i_len: usize,
    j_len: usize,
    i: P,
}

impl<CB, J> ProducerCallback<J::Item> for First<CB, J>
where
    J: IndexedParallelIterator,
    CB: ProducerCallback<J::Item>,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = J::Item>>(self, i: P) -> CB::Output {
        let Self { callback, i_len, j_len, j } = self;
        j.with_producer(Second { callback, i_len, j_len, i })
    }
}

impl<CB, I> ProducerCallback<I::Item> for Second<CB, I>
where
    I: Producer,
    CB: ProducerCallback<I::Item>,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = I::Item>>(self, j: P) -> CB::Output {
        let Self { callback, i_len, j_len, i } = self;
        callback.callback(Turns { i, j, i_len, j_len, is_i: true })
    }
}

/// Items in turn. When one has none left, the others follow.
struct Turns<I, J> {
    i: I,
    j: J,
    i_len: usize,
    j_len: usize,
    /// Whether it is the turn of `i`.
    is_i: bool,
}

impl<I: Producer, J: Producer<Item = I::Item>> Producer for Turns<I, J> {
    type Item = I::Item;
    type IntoIter = TurnsIter<I::IntoIter, J::IntoIter>;

    fn into_iter(self) -> Self::IntoIter {
        TurnsIter { i: self.i.into_iter(), j: self.j.into_iter(), is_i: self.is_i }
    }

    fn min_len(&self) -> usize {
        self.i.min_len().max(self.j.min_len())
    }

    fn max_len(&self) -> usize {
        self.i.max_len().min(self.j.max_len())
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { i, j, i_len, j_len, is_i } = self;
        // As many as their turns, and more if the other cannot give as many as its own.
        let turns = if is_i { index.div_ceil(2) } else { index / 2 };
        let from_i = turns.max(index.saturating_sub(j_len)).min(i_len);
        let from_j = index - from_i;
        // If one has none left, it does not matter whose turn it is.
        let next_is_i = is_i == index.is_multiple_of(2);
        let (i, more_i) = i.split_at(from_i);
        let (j, more_j) = j.split_at(from_j);
        let left = Self { i, j, i_len: from_i, j_len: from_j, is_i };
        let (i_len, j_len) = (i_len - from_i, j_len - from_j);
        (left, Self { i: more_i, j: more_j, i_len, j_len, is_i: next_is_i })
    }
}

struct TurnsIter<I, J> {
    i: I,
    j: J,
    is_i: bool,
}

impl<I, J> Iterator for TurnsIter<I, J>
where
    I: ExactSizeIterator,
    J: ExactSizeIterator<Item = I::Item>,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let is_i = self.is_i;
        self.is_i = !is_i;
        if is_i {
            self.i.next().or_else(|| self.j.next())
        } else {
            self.j.next().or_else(|| self.i.next())
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.i.len() + self.j.len();
        (len, Some(len))
    }
}

impl<I, J> DoubleEndedIterator for TurnsIter<I, J>
where
    I: DoubleEndedIterator + ExactSizeIterator,
    J: DoubleEndedIterator<Item = I::Item> + ExactSizeIterator,
{
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        let (i_len, j_len) = (self.i.len(), self.j.len());
        // Of as many items, the last is from the one whose turn is not next.
        if i_len > j_len || (i_len == j_len && !self.is_i) {
            self.i.next_back()
        } else {
            self.j.next_back()
        }
    }
}

impl<I, J> ExactSizeIterator for TurnsIter<I, J>
where
    I: ExactSizeIterator,
    J: ExactSizeIterator<Item = I::Item>,
{
}
