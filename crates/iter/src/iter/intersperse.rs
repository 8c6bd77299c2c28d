//! `intersperse`.
//!
//! A piece does not know whether there are items in front of it: a filter may have left none. So
//! a separator between two pieces is put in when they are joined, by a consumer that is split off
//! for it.

use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer};
use super::{IndexedParallelIterator, ParallelIterator};
use sateen_base::unwind::Held;

/// Items with a separator between each two: what
/// [`intersperse`](ParallelIterator::intersperse) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Intersperse<I: ParallelIterator> {
    base: I,
    element: I::Item,
}

impl<I: ParallelIterator> Intersperse<I> {
    pub(super) fn new(base: I, element: I::Item) -> Self {
        Self { base, element }
    }
}

impl<I: ParallelIterator<Item: Clone>> ParallelIterator for Intersperse<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let element = Held::new(self.element);
        self.base.drive_unindexed(Separated { base: consumer, element }).result.release()
    }
}

impl<I: IndexedParallelIterator<Item: Clone>> IndexedParallelIterator for Intersperse<I> {
    fn len(&self) -> usize {
        let len = self.base.len();
        match len.checked_add(len.saturating_sub(1)) {
            Some(len) => len,
            None => panic!("`intersperse` makes more than {} items", usize::MAX),
        }
    }

    fn drive<C: Consumer<I::Item>>(self, consumer: C) -> C::Result {
        super::plumbing::bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<I::Item>>(self, callback: CB) -> CB::Output {
        let len = self.len();
        self.base.with_producer(Callback { callback, len, element: self.element })
    }
}

/// Puts a separator in front of each item but its first.
struct Separated<B, T> {
    base: B,
    /// Held while other code runs.
    element: Held<T>,
}

impl<T: Clone + Send, C: UnindexedConsumer<T>> Consumer<T> for Separated<C, T> {
    type Folder = SeparatedFolder<C::Folder, T>;
    type Reducer = Seam<C, T>;
    type Result = Part<C::Result>;

    fn split_at(self, _index: usize) -> (Self, Self, Self::Reducer) {
        let left = self.split_off_left();
        let seam = self.to_reducer();
        (left, self, seam)
    }

    fn into_folder(self) -> Self::Folder {
        let Self { base, element } = self;
        SeparatedFolder { base: base.into_folder(), element, has_items: false }
    }

    fn full(&self) -> bool {
        self.base.full()
    }

    #[inline]
    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        self.base.extend_folder(&mut folder.base, count)
    }
}

impl<T: Clone + Send, C: UnindexedConsumer<T>> UnindexedConsumer<T> for Separated<C, T> {
    fn split_off_left(&self) -> Self {
        let element = Held::new(T::clone(&self.element));
        Self { base: self.base.split_off_left(), element }
    }

    /// Called after the left one is split off, and takes what follows that.
    fn to_reducer(&self) -> Seam<C, T> {
        Seam {
            left: self.base.to_reducer(),
            right: self.base.to_reducer(),
            middle: self.base.split_off_left(),
            element: Held::new(T::clone(&self.element)),
        }
    }
}

/// What a piece has become.
struct Part<R> {
    result: Held<R>,
    has_items: bool,
}

/// Joins two pieces, with a separator if both have items.
struct Seam<C: Consumer<T>, T> {
    left: C::Reducer,
    right: C::Reducer,
    middle: C,
    element: Held<T>,
}

impl<T, C: Consumer<T>> Reducer<Part<C::Result>> for Seam<C, T> {
    fn reduce(self, left: Part<C::Result>, right: Part<C::Result>) -> Part<C::Result> {
        let has_items = left.has_items || right.has_items;
        let mut so_far = left.result;
        if left.has_items && right.has_items {
            let middle = self.middle.into_folder().consume(self.element.release()).complete();
            so_far = Held::new(self.left.reduce(so_far.release(), middle));
        }
        let result = self.right.reduce(so_far.release(), right.result.release());
        Part { result: Held::new(result), has_items }
    }
}

struct SeparatedFolder<B, T> {
    base: B,
    element: Held<T>,
    has_items: bool,
}

impl<T: Clone, F: Folder<T>> Folder<T> for SeparatedFolder<F, T> {
    type Result = Part<F::Result>;
    const FILLS: bool = F::FILLS;

    fn consume(self, item: T) -> Self {
        let Self { mut base, element, has_items } = self;
        let item = Held::new(item);
        if has_items {
            base = base.consume(T::clone(&element));
        }
        Self { base: base.consume(item.release()), element, has_items: true }
    }

    fn complete(self) -> Part<F::Result> {
        Part { result: Held::new(self.base.complete()), has_items: self.has_items }
    }

    fn full(&self) -> bool {
        self.base.full()
    }
}

struct Callback<CB, T> {
    callback: CB,
    len: usize,
    element: T,
}

impl<T: Clone + Send, CB: ProducerCallback<T>> ProducerCallback<T> for Callback<CB, T> {
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        let element = Held::new(self.element);
        self.callback.callback(Alternating { base, len: self.len, element, is_separator: false })
    }
}

/// Items and separators in turn, `len` together. Producer and iterator.
struct Alternating<B, T> {
    base: B,
    len: usize,
    element: Held<T>,
    /// Whether the first is a separator.
    is_separator: bool,
}

impl<P: Producer<Item: Clone + Send>> Producer for Alternating<P, P::Item> {
    type Item = P::Item;
    type IntoIter = Alternating<P::IntoIter, P::Item>;

    fn into_iter(self) -> Self::IntoIter {
        let Self { base, len, element, is_separator } = self;
        Alternating { base: base.into_iter(), len, element, is_separator }
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { base, len, element, is_separator } = self;
        let items = if is_separator { index / 2 } else { index.div_ceil(2) };
        let other = Held::new(P::Item::clone(&element));
        let (left, right) = base.split_at(items);
        let next = is_separator == index.is_multiple_of(2);
        let left = Self { base: left, len: index, element, is_separator };
        (left, Self { base: right, len: len - index, element: other, is_separator: next })
    }
}

impl<I: Iterator<Item: Clone>> Iterator for Alternating<I, I::Item> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.len = self.len.checked_sub(1)?;
        let is_separator = self.is_separator;
        self.is_separator = !is_separator;
        if is_separator { Some(I::Item::clone(&self.element)) } else { self.base.next() }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<I: DoubleEndedIterator<Item: Clone>> DoubleEndedIterator for Alternating<I, I::Item> {
    fn next_back(&mut self) -> Option<I::Item> {
        self.len = self.len.checked_sub(1)?;
        let is_separator = self.is_separator == self.len.is_multiple_of(2);
        if is_separator { Some(I::Item::clone(&self.element)) } else { self.base.next_back() }
    }
}

impl<I: DoubleEndedIterator<Item: Clone>> ExactSizeIterator for Alternating<I, I::Item> {}
