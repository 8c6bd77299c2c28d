//! `reduce` and `reduce_with`.

use super::ParallelIterator;
use super::end::{End, Ended};
use super::plumbing::Folder;
use sateen_base::unwind::Held;

/// Joins items, beginning with an identity.
struct Reduce<'f, ID, F> {
    identity: &'f ID,
    op: &'f F,
}

impl<ID, F> Clone for Reduce<'_, ID, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<ID, F> Copy for Reduce<'_, ID, F> {}

pub(super) fn reduce<I, ID, F>(items: I, identity: &ID, op: &F) -> I::Item
where
    I: ParallelIterator,
    ID: Fn() -> I::Item + Sync,
    F: Fn(I::Item, I::Item) -> I::Item + Sync,
{
    items.drive_unindexed(Ended(Reduce { identity, op }))
}

impl<'f, T, ID, F> End<T> for Reduce<'f, ID, F>
where
    T: Send,
    ID: Fn() -> T + Sync,
    F: Fn(T, T) -> T + Sync,
{
    type Folder = ReduceFolder<'f, T, F>;
    type Result = T;

    #[inline]
    fn folder(self) -> Self::Folder {
        ReduceFolder { item: Held::new((self.identity)()), op: self.op }
    }

    #[inline]
    fn reduce(self, left: T, right: T) -> T {
        (self.op)(left, right)
    }
}

struct ReduceFolder<'f, T, F> {
    /// Held while the source's code runs.
    item: Held<T>,
    op: &'f F,
}

impl<T, F: Fn(T, T) -> T> Folder<T> for ReduceFolder<'_, T, F> {
    type Result = T;
    const FILLS: bool = false;

    #[inline]
    fn consume(self, item: T) -> Self {
        let Self { item: so_far, op } = self;
        Self { item: Held::new(op(so_far.release(), item)), op }
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, iter: I) -> Self {
        let Self { item, op } = self;
        Self { item: join_all(item, iter.into_iter(), op), op }
    }

    #[inline]
    fn complete(self) -> T {
        self.item.release()
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

#[inline(always)]
fn join_all<T>(first: Held<T>, items: impl Iterator<Item = T>, op: &impl Fn(T, T) -> T) -> Held<T> {
    items.fold(first, |so_far, item| Held::new(op(so_far.release(), item)))
}

/// Joins items, if there are any.
struct ReduceWith<'f, F>(&'f F);

impl<F> Clone for ReduceWith<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for ReduceWith<'_, F> {}

pub(super) fn reduce_with<I, F>(items: I, op: &F) -> Option<I::Item>
where
    I: ParallelIterator,
    F: Fn(I::Item, I::Item) -> I::Item + Sync,
{
    items.drive_unindexed(Ended(ReduceWith(op)))
}

impl<'f, T, F> End<T> for ReduceWith<'f, F>
where
    T: Send,
    F: Fn(T, T) -> T + Sync,
{
    type Folder = ReduceWithFolder<'f, T, F>;
    type Result = Option<T>;

    #[inline]
    fn folder(self) -> Self::Folder {
        ReduceWithFolder { item: None, op: self.0 }
    }

    #[inline]
    fn reduce(self, left: Option<T>, right: Option<T>) -> Option<T> {
        match (left, right) {
            (Some(left), Some(right)) => Some((self.0)(left, right)),
            (left, right) => left.or(right),
        }
    }
}

struct ReduceWithFolder<'f, T, F> {
    item: Option<Held<T>>,
    op: &'f F,
}

impl<T, F: Fn(T, T) -> T> Folder<T> for ReduceWithFolder<'_, T, F> {
    type Result = Option<T>;
    const FILLS: bool = false;

    #[inline]
    fn consume(self, item: T) -> Self {
        let Self { item: so_far, op } = self;
        let item = match so_far {
            Some(so_far) => op(so_far.release(), item),
            None => item,
        };
        Self { item: Some(Held::new(item)), op }
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, iter: I) -> Self {
        let Self { item, op } = self;
        let mut items = iter.into_iter();
        let first = item.or_else(|| items.next().map(Held::new));
        Self { item: first.map(|first| join_all(first, items, op)), op }
    }

    #[inline]
    fn complete(self) -> Option<T> {
        self.item.map(Held::release)
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}
