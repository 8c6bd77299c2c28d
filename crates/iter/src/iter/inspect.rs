//! `inspect`.

use super::ParallelIterator;
use super::adapter::{adapter, with_function};
use super::plumbing::Folder;
use super::stage::{OneToOne, Stage, staged};

adapter! {
    /// Shows each item to a function: what [`inspect`](ParallelIterator::inspect) returns.
    Inspect { base, inspect_op }
}

with_function! {
    /// Shows the item to the function.
    Inspecting
}

staged! {
    impl[I, F] Inspect<I, F>;
    one_to_one I::Item => I::Item;
    where { I: ParallelIterator, F: Fn(&I::Item) + Sync + Send, }
    stage = |this| (this.base, Inspecting(&this.inspect_op));
}

impl<T, F: Fn(&T) + Sync> Stage<T> for Inspecting<'_, F> {
    type Out = T;

    #[inline]
    fn consume<N: Folder<T>>(self, next: N, item: T) -> N {
        (self.0)(&item);
        next.consume(item)
    }

    #[inline]
    fn consume_iter<N: Folder<T>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.inspect(self.0))
    }
}

impl<'f, T, F: Fn(&T) + Sync> OneToOne<T> for Inspecting<'f, F> {
    type Iter<I: DoubleEndedIterator<Item = T> + ExactSizeIterator> = std::iter::Inspect<I, &'f F>;

    #[inline]
    fn iter<I>(self, base: I) -> Self::Iter<I>
    where
        I: DoubleEndedIterator<Item = T> + ExactSizeIterator,
    {
        base.inspect(self.0)
    }
}
