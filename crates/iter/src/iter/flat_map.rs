//! `flat_map_iter`, `flatten_iter`: sequential iterators behind each other. `flat_map`, `flatten`:
//! parallel ones.

use super::adapter::{adapter, with_function};
use super::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use super::stage::{Stage, staged};
use super::{IntoParallelIterator, ParallelIterator};
use sateen_base::unwind::Held;

adapter! {
    /// Makes a sequential iterator of each item:
    /// what [`flat_map_iter`](ParallelIterator::flat_map_iter) returns.
    FlatMapIter { base, map_op }
}

adapter! {
    /// Takes each item for a sequential iterator:
    /// what [`flatten_iter`](ParallelIterator::flatten_iter) returns.
    FlattenIter { base }
}

adapter! {
    /// Makes a parallel iterator of each item:
    /// what [`flat_map`](ParallelIterator::flat_map) returns.
    FlatMap { base, map_op }
}

adapter! {
    /// Takes each item for a parallel iterator:
    /// what [`flatten`](ParallelIterator::flatten) returns.
    Flatten { base }
}

with_function! {
    /// Passes on the items of the iterators that the function makes.
    FlatMapping
}

/// Passes on the items of the items.
#[derive(Clone, Copy)]
pub(crate) struct Flattening;

staged! {
    impl[I, F, S] FlatMapIter<I, F>;
    any I::Item => S::Item;
    where {
        I: ParallelIterator,
        F: Fn(I::Item) -> S + Sync + Send,
        S: IntoIterator,
        S::Item: Send,
    }
    stage = |this| (this.base, FlatMapping(&this.map_op));
}

staged! {
    impl[I] FlattenIter<I>;
    any I::Item => <I::Item as IntoIterator>::Item;
    where { I: ParallelIterator, I::Item: IntoIterator, <I::Item as IntoIterator>::Item: Send, }
    stage = |this| (this.base, Flattening);
}

impl<T, S: IntoIterator, F: Fn(T) -> S + Sync> Stage<T> for FlatMapping<'_, F> {
    type Out = S::Item;
    const SWALLOWS: bool = true;

    #[inline]
    fn consume<N: Folder<S::Item>>(self, next: N, item: T) -> N {
        next.consume_iter((self.0)(item))
    }

    #[inline]
    fn consume_iter<N: Folder<S::Item>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.flat_map(self.0))
    }
}

impl<T: IntoIterator> Stage<T> for Flattening {
    type Out = T::Item;
    const SWALLOWS: bool = true;

    #[inline]
    fn consume<N: Folder<T::Item>>(self, next: N, item: T) -> N {
        next.consume_iter(item)
    }

    #[inline]
    fn consume_iter<N: Folder<T::Item>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.flatten())
    }
}

impl<I, F, P> ParallelIterator for FlatMap<I, F>
where
    I: ParallelIterator,
    F: Fn(I::Item) -> P + Sync + Send,
    P: IntoParallelIterator,
{
    type Item = P::Item;

    fn drive_unindexed<C: UnindexedConsumer<P::Item>>(self, consumer: C) -> C::Result {
        self.base.drive_unindexed(Nested { map_op: &self.map_op, base: consumer })
    }
}

impl<I> ParallelIterator for Flatten<I>
where
    I: ParallelIterator,
    I::Item: IntoParallelIterator,
{
    type Item = <I::Item as IntoParallelIterator>::Item;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        let map_op = &|item: I::Item| item;
        self.base.drive_unindexed(Nested { map_op, base: consumer })
    }
}

/// Drives a part of `base` with each iterator that the function makes.
struct Nested<'f, F, C> {
    map_op: &'f F,
    base: C,
}

impl<T, P, F, C> Consumer<T> for Nested<'_, F, C>
where
    P: IntoParallelIterator,
    F: Fn(T) -> P + Sync,
    C: UnindexedConsumer<P::Item>,
{
    type Folder = NestedFolder<Self, C::Result>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    fn split_at(self, _index: usize) -> (Self, Self, C::Reducer) {
        // The items say nothing about how many items they become.
        let (left, reducer) = (self.split_off_left(), self.base.to_reducer());
        (left, self, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        NestedFolder { consumer: self, done: None }
    }

    fn full(&self) -> bool {
        self.base.full()
    }

    fn extend_folder(&mut self, _folder: &mut Self::Folder, _count: usize) -> bool {
        true
    }
}

impl<T, P, F, C> UnindexedConsumer<T> for Nested<'_, F, C>
where
    P: IntoParallelIterator,
    F: Fn(T) -> P + Sync,
    C: UnindexedConsumer<P::Item>,
{
    fn split_off_left(&self) -> Self {
        Self { map_op: self.map_op, base: self.base.split_off_left() }
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

/// Holds what the iterators so far have become.
struct NestedFolder<N, R> {
    consumer: N,
    done: Option<Held<R>>,
}

impl<T, P, F, C> Folder<T> for NestedFolder<Nested<'_, F, C>, C::Result>
where
    P: IntoParallelIterator,
    F: Fn(T) -> P + Sync,
    C: UnindexedConsumer<P::Item>,
{
    type Result = C::Result;

    fn consume(self, item: T) -> Self {
        let Self { consumer, done } = self;
        let inner = (consumer.map_op)(item).into_par_iter();
        let result = inner.drive_unindexed(consumer.base.split_off_left());
        let result = match done {
            None => result,
            Some(done) => consumer.base.to_reducer().reduce(done.release(), result),
        };
        Self { consumer, done: Some(Held::new(result)) }
    }

    fn complete(self) -> C::Result {
        match self.done {
            Some(done) => done.release(),
            None => self.consumer.base.into_folder().complete(),
        }
    }

    fn full(&self) -> bool {
        self.consumer.base.full()
    }
}
