//! Ends whose pieces differ in nothing: sums, reductions, searches for any item.

use super::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use sateen_base::unwind::Held;

/// What all pieces of a loop share; each has a copy.
pub(crate) trait End<Item>: Copy + Send {
    /// What takes the items of a piece.
    type Folder: Folder<Item, Result = Self::Result>;
    /// What a piece becomes.
    type Result: Send;

    /// Begins a piece.
    fn folder(self) -> Self::Folder;

    /// Joins the results of two pieces.
    fn reduce(self, left: Self::Result, right: Self::Result) -> Self::Result;

    /// Whether no more items are wanted.
    #[inline(always)]
    fn full(self) -> bool {
        false
    }
}

/// The consumer that ends in `E`, and its reducer.
#[derive(Clone, Copy)]
pub(crate) struct Ended<E>(pub(crate) E);

/// The reducer of [`Ended`]. It knows the type of the items.
pub(crate) struct Joins<Item, E>(E, std::marker::PhantomData<fn(Item)>);

impl<Item, E: End<Item>> Reducer<E::Result> for Joins<Item, E> {
    #[inline]
    fn reduce(self, left: E::Result, right: E::Result) -> E::Result {
        self.0.reduce(left, right)
    }
}

impl<Item, E: End<Item>> Consumer<Item> for Ended<E> {
    type Folder = E::Folder;
    type Reducer = Joins<Item, E>;
    type Result = E::Result;

    #[inline]
    fn split_at(self, _index: usize) -> (Self, Self, Self::Reducer) {
        (self, self, self.to_reducer())
    }

    #[inline]
    fn into_folder(self) -> E::Folder {
        self.0.folder()
    }

    #[inline]
    fn full(&self) -> bool {
        self.0.full()
    }

    #[inline]
    fn extend_folder(&mut self, _folder: &mut E::Folder, _count: usize) -> bool {
        true
    }
}

impl<Item, E: End<Item>> UnindexedConsumer<Item> for Ended<E> {
    #[inline]
    fn split_off_left(&self) -> Self {
        *self
    }

    #[inline]
    fn to_reducer(&self) -> Self::Reducer {
        Joins(self.0, std::marker::PhantomData)
    }
}

/// Runs a loop over items in a function of its own. There it has all registers, and keeps nothing
/// on the stack for the code around it: that is the whole driver of a parallel loop.
#[inline(never)]
pub(crate) fn apart<R>(items: impl FnOnce() -> R) -> R {
    items()
}

/// The first of two results, if there are any. The other is dropped before that is returned:
/// `Option::or` would lose what it returns if the destructor panics.
#[inline]
pub(crate) fn either_of<T>(first: Option<T>, other: Option<T>) -> Option<T> {
    match first {
        None => other,
        Some(first) => {
            let first = Held::new(first);
            drop(other);
            Some(first.release())
        }
    }
}
