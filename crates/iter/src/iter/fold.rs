//! `fold` and `fold_with`: a value for each piece.

use super::ParallelIterator;
use super::plumbing::{Consumer, Folder, UnindexedConsumer};
use super::seed::{Init, Seed, With};
use crate::driver::broken;
use sateen_base::unwind::{Held, Replaced};
use std::fmt;

/// Folds the items of each piece into one: what [`fold`](ParallelIterator::fold) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone)]
pub struct Fold<I, ID, F> {
    base: I,
    identity: ID,
    fold_op: F,
}

impl<I, ID, F> Fold<I, ID, F> {
    pub(super) fn new(base: I, identity: ID, fold_op: F) -> Self {
        Self { base, identity, fold_op }
    }
}

impl<I: fmt::Debug, ID, F> fmt::Debug for Fold<I, ID, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fold").field("base", &self.base).finish_non_exhaustive()
    }
}

impl<T, I, ID, F> ParallelIterator for Fold<I, ID, F>
where
    I: ParallelIterator,
    F: Fn(T, I::Item) -> T + Sync + Send,
    ID: Fn() -> T + Sync + Send,
    T: Send,
{
    type Item = T;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        let seed = Init(&self.identity);
        self.base.drive_unindexed(Folding { base: consumer, seed, fold_op: &self.fold_op })
    }
}

/// Folds the items of each piece into a clone of a value:
/// what [`fold_with`](ParallelIterator::fold_with) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone)]
pub struct FoldWith<I, T, F> {
    base: I,
    item: T,
    fold_op: F,
}

impl<I, T, F> FoldWith<I, T, F> {
    pub(super) fn new(base: I, item: T, fold_op: F) -> Self {
        Self { base, item, fold_op }
    }
}

impl<I: fmt::Debug, T: fmt::Debug, F> fmt::Debug for FoldWith<I, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FoldWith");
        shown.field("base", &self.base).field("item", &self.item).finish_non_exhaustive()
    }
}

impl<T, I, F> ParallelIterator for FoldWith<I, T, F>
where
    I: ParallelIterator,
    F: Fn(T, I::Item) -> T + Sync + Send,
    T: Clone + Send,
{
    type Item = T;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        let seed = With::new(self.item);
        self.base.drive_unindexed(Folding { base: consumer, seed, fold_op: &self.fold_op })
    }
}

/// Gives `base` one item for each piece.
struct Folding<'f, C, S, F> {
    base: C,
    seed: S,
    fold_op: &'f F,
}

impl<'f, T, C, S, F> Consumer<T> for Folding<'f, C, S, F>
where
    C: Consumer<S::State>,
    S: Seed,
    F: Fn(S::State, T) -> S::State + Sync,
{
    type Folder = FoldingFolder<'f, C::Folder, S::State, F>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let Self { base, seed, fold_op } = self;
        let first = seed.split_off();
        let (left, right, reducer) = base.split_at(index);
        (Self { base: left, seed: first, fold_op }, Self { base: right, seed, fold_op }, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        let Self { base, seed, fold_op } = self;
        FoldingFolder { state: Held::new(seed.state()), base: base.into_folder(), fold_op }
    }

    fn full(&self) -> bool {
        self.base.full()
    }

    #[inline]
    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        // An end that may have enough learns it from a state, so it gets several.
        !<C::Folder as Folder<S::State>>::FILLS && self.base.extend_folder(&mut folder.base, count)
    }
}

impl<'f, T, C, S, F> UnindexedConsumer<T> for Folding<'f, C, S, F>
where
    C: UnindexedConsumer<S::State>,
    S: Seed,
    F: Fn(S::State, T) -> S::State + Sync,
{
    fn split_off_left(&self) -> Self {
        let seed = self.seed.split_off();
        Self { base: self.base.split_off_left(), seed, fold_op: self.fold_op }
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

struct FoldingFolder<'f, B, S, F> {
    base: B,
    /// Held while the source's code runs.
    state: Held<S>,
    fold_op: &'f F,
}

impl<T, B, S, F> Folder<T> for FoldingFolder<'_, B, S, F>
where
    B: Folder<S>,
    F: Fn(S, T) -> S,
{
    type Result = B::Result;
    const FILLS: bool = B::FILLS;

    #[inline]
    fn consume(self, item: T) -> Self {
        let Self { base, state, fold_op } = self;
        Self { base, state: Held::new(fold_op(state.release(), item)), fold_op }
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, iter: I) -> Self {
        let Self { base, state, fold_op } = self;
        // Adapters would copy a state that they pass on.
        let mut state = Replaced::new(state.release());
        let wanted = iter.into_iter().take_while(|_| !base.full());
        wanted.for_each(|item| state.by(|state| fold_op(state, item)));
        match state.release() {
            Some(state) => Self { base, state: Held::new(state), fold_op },
            None => broken("a fold without a state"),
        }
    }

    #[inline]
    fn complete(self) -> B::Result {
        self.base.consume(self.state.release()).complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.base.full()
    }
}
