//! `map`.

use super::ParallelIterator;
use super::adapter::{adapter, with_function};
use super::plumbing::Folder;
use super::stage::{OneToOne, Stage, staged};

adapter! {
    /// Calls a function with each item: what [`map`](ParallelIterator::map) returns.
    Map { base, map_op }
}

with_function! {
    /// Calls the function.
    Mapping
}

staged! {
    impl[I, F, R] Map<I, F>;
    one_to_one I::Item => R;
    where { I: ParallelIterator, F: Fn(I::Item) -> R + Sync + Send, R: Send, }
    stage = |this| (this.base, Mapping(&this.map_op));
}

impl<T, R, F: Fn(T) -> R + Sync> Stage<T> for Mapping<'_, F> {
    type Out = R;

    #[inline]
    fn consume<N: Folder<R>>(self, next: N, item: T) -> N {
        next.consume((self.0)(item))
    }

    #[inline]
    fn consume_iter<N: Folder<R>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.map(self.0))
    }
}

impl<'f, T, R, F: Fn(T) -> R + Sync> OneToOne<T> for Mapping<'f, F> {
    type Iter<I: DoubleEndedIterator<Item = T> + ExactSizeIterator> = std::iter::Map<I, &'f F>;

    #[inline]
    fn iter<I>(self, base: I) -> Self::Iter<I>
    where
        I: DoubleEndedIterator<Item = T> + ExactSizeIterator,
    {
        base.map(self.0)
    }
}
