//! `filter` and `filter_map`.

use super::ParallelIterator;
use super::adapter::{adapter, with_function};
use super::plumbing::Folder;
use super::stage::{Stage, staged};

adapter! {
    /// Keeps some items: what [`filter`](ParallelIterator::filter) returns.
    Filter { base, filter_op }
}

adapter! {
    /// Maps items and keeps some: what [`filter_map`](ParallelIterator::filter_map) returns.
    FilterMap { base, filter_op }
}

with_function! {
    /// Passes on the items that the function wants.
    Filtering
}

with_function! {
    /// Passes on what the function makes, if anything.
    FilterMapping
}

staged! {
    impl[I, F] Filter<I, F>;
    any I::Item => I::Item;
    where { I: ParallelIterator, F: Fn(&I::Item) -> bool + Sync + Send, }
    stage = |this| (this.base, Filtering(&this.filter_op));
}

staged! {
    impl[I, F, R] FilterMap<I, F>;
    any I::Item => R;
    where { I: ParallelIterator, F: Fn(I::Item) -> Option<R> + Sync + Send, R: Send, }
    stage = |this| (this.base, FilterMapping(&this.filter_op));
}

impl<T, F: Fn(&T) -> bool + Sync> Stage<T> for Filtering<'_, F> {
    type Out = T;
    const SWALLOWS: bool = true;

    #[inline]
    fn consume<N: Folder<T>>(self, next: N, item: T) -> N {
        if (self.0)(&item) { next.consume(item) } else { next }
    }

    #[inline]
    fn consume_iter<N: Folder<T>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.filter(self.0))
    }
}

impl<T, R, F: Fn(T) -> Option<R> + Sync> Stage<T> for FilterMapping<'_, F> {
    type Out = R;
    const SWALLOWS: bool = true;

    #[inline]
    fn consume<N: Folder<R>>(self, next: N, item: T) -> N {
        match (self.0)(item) {
            Some(item) => next.consume(item),
            None => next,
        }
    }

    #[inline]
    fn consume_iter<N: Folder<R>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.filter_map(self.0))
    }
}
