//! `update`.

use super::ParallelIterator;
use super::adapter::{adapter, with_function};
use super::plumbing::Folder;
use super::stage::{OneToOne, Stage, staged};

adapter! {
    /// Changes each item in place: what [`update`](ParallelIterator::update) returns.
    Update { base, update_op }
}

with_function! {
    /// Lets the function change the item.
    Updating
}

staged! {
    impl[I, F] Update<I, F>;
    one_to_one I::Item => I::Item;
    where { I: ParallelIterator, F: Fn(&mut I::Item) + Sync + Send, }
    stage = |this| (this.base, Updating(&this.update_op));
}

impl<T, F: Fn(&mut T) + Sync> Stage<T> for Updating<'_, F> {
    type Out = T;

    #[inline]
    fn consume<N: Folder<T>>(self, next: N, mut item: T) -> N {
        (self.0)(&mut item);
        next.consume(item)
    }

    #[inline]
    fn consume_iter<N: Folder<T>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(Updated { base: items, update_op: self.0 })
    }
}

impl<'f, T, F: Fn(&mut T) + Sync> OneToOne<T> for Updating<'f, F> {
    type Iter<I: DoubleEndedIterator<Item = T> + ExactSizeIterator> = Updated<'f, I, F>;

    #[inline]
    fn iter<I>(self, base: I) -> Self::Iter<I>
    where
        I: DoubleEndedIterator<Item = T> + ExactSizeIterator,
    {
        Updated { base, update_op: self.0 }
    }
}

/// Iterates over items that the function has changed.
pub(crate) struct Updated<'f, I, F> {
    base: I,
    update_op: &'f F,
}

impl<I: Iterator, F: Fn(&mut I::Item)> Iterator for Updated<'_, I, F> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let mut item = self.base.next()?;
        (self.update_op)(&mut item);
        Some(item)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }

    #[inline]
    fn fold<S, G: FnMut(S, I::Item) -> S>(self, init: S, mut g: G) -> S {
        self.base.fold(init, |state, mut item| {
            (self.update_op)(&mut item);
            g(state, item)
        })
    }
}

impl<I: DoubleEndedIterator, F: Fn(&mut I::Item)> DoubleEndedIterator for Updated<'_, I, F> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        let mut item = self.base.next_back()?;
        (self.update_op)(&mut item);
        Some(item)
    }
}

impl<I: ExactSizeIterator, F: Fn(&mut I::Item)> ExactSizeIterator for Updated<'_, I, F> {}
