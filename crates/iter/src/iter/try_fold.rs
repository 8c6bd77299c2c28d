//! `try_fold` and `try_fold_with`: a value for each piece, unless it stops.

use super::ParallelIterator;
use super::plumbing::{Consumer, Folder, UnindexedConsumer};
use super::private::Try;
use super::seed::{Init, Seed, With};
use sateen_base::unwind::Held;
use std::fmt;
use std::marker::PhantomData;
use std::ops::ControlFlow::{self, Break, Continue};

/// Folds the items of each piece until it stops: what [`try_fold`](ParallelIterator::try_fold)
/// returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone)]
pub struct TryFold<I, R, ID, F> {
    base: I,
    identity: ID,
    fold_op: F,
    makes: PhantomData<fn() -> R>,
}

impl<I, R, ID, F> TryFold<I, R, ID, F> {
    pub(super) fn new(base: I, identity: ID, fold_op: F) -> Self {
        Self { base, identity, fold_op, makes: PhantomData }
    }
}

impl<I: fmt::Debug, R, ID, F> fmt::Debug for TryFold<I, R, ID, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryFold").field("base", &self.base).finish_non_exhaustive()
    }
}

impl<R, I, ID, F> ParallelIterator for TryFold<I, R, ID, F>
where
    I: ParallelIterator,
    F: Fn(R::Output, I::Item) -> R + Sync + Send,
    ID: Fn() -> R::Output + Sync + Send,
    R: Try + Send,
{
    type Item = R;

    fn drive_unindexed<C: UnindexedConsumer<R>>(self, consumer: C) -> C::Result {
        let (seed, makes) = (Init(&self.identity), PhantomData::<fn() -> R>);
        let fold_op = &self.fold_op;
        self.base.drive_unindexed(TryFolding { base: consumer, seed, fold_op, makes })
    }
}

/// Folds the items of each piece into a clone of a value until it stops:
/// what [`try_fold_with`](ParallelIterator::try_fold_with) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone)]
pub struct TryFoldWith<I, R: Try, F> {
    base: I,
    item: R::Output,
    fold_op: F,
}

impl<I, R: Try, F> TryFoldWith<I, R, F> {
    pub(super) fn new(base: I, item: R::Output, fold_op: F) -> Self {
        Self { base, item, fold_op }
    }
}

impl<I: fmt::Debug, R: Try<Output: fmt::Debug>, F> fmt::Debug for TryFoldWith<I, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("TryFoldWith");
        shown.field("base", &self.base).field("item", &self.item).finish_non_exhaustive()
    }
}

impl<R, I, F> ParallelIterator for TryFoldWith<I, R, F>
where
    I: ParallelIterator,
    F: Fn(R::Output, I::Item) -> R + Sync + Send,
    R: Try<Output: Clone + Send> + Send,
{
    type Item = R;

    fn drive_unindexed<C: UnindexedConsumer<R>>(self, consumer: C) -> C::Result {
        let (seed, makes) = (With::new(self.item), PhantomData::<fn() -> R>);
        let fold_op = &self.fold_op;
        self.base.drive_unindexed(TryFolding { base: consumer, seed, fold_op, makes })
    }
}

/// Gives `base` one item for each piece.
struct TryFolding<'f, C, S, F, R> {
    base: C,
    seed: S,
    fold_op: &'f F,
    makes: PhantomData<fn() -> R>,
}

impl<'f, T, C, S, F, R> Consumer<T> for TryFolding<'f, C, S, F, R>
where
    C: Consumer<R>,
    S: Seed,
    F: Fn(S::State, T) -> R + Sync,
    R: Try<Output = S::State>,
{
    type Folder = TryFoldingFolder<'f, C::Folder, R, F>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let Self { base, seed, fold_op, makes } = self;
        let first = seed.split_off();
        let (left, right, reducer) = base.split_at(index);
        let left = Self { base: left, seed: first, fold_op, makes };
        (left, Self { base: right, seed, fold_op, makes }, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        let Self { base, seed, fold_op, .. } = self;
        let state = Held::new(Continue(seed.state()));
        TryFoldingFolder { state, base: base.into_folder(), fold_op }
    }

    fn full(&self) -> bool {
        self.base.full()
    }

    #[inline]
    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        self.base.extend_folder(&mut folder.base, count)
    }
}

impl<'f, T, C, S, F, R> UnindexedConsumer<T> for TryFolding<'f, C, S, F, R>
where
    C: UnindexedConsumer<R>,
    S: Seed,
    F: Fn(S::State, T) -> R + Sync,
    R: Try<Output = S::State>,
{
    fn split_off_left(&self) -> Self {
        let (seed, fold_op) = (self.seed.split_off(), self.fold_op);
        Self { base: self.base.split_off_left(), seed, fold_op, makes: self.makes }
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

type State<R> = ControlFlow<<R as Try>::Residual, <R as Try>::Output>;

struct TryFoldingFolder<'f, B, R: Try, F> {
    base: B,
    /// Held while the source's code runs.
    state: Held<State<R>>,
    fold_op: &'f F,
}

impl<T, B, R, F> Folder<T> for TryFoldingFolder<'_, B, R, F>
where
    B: Folder<R>,
    R: Try,
    F: Fn(R::Output, T) -> R,
{
    type Result = B::Result;

    #[inline]
    fn consume(self, item: T) -> Self {
        let Self { base, state, fold_op } = self;
        let next = match state.release() {
            Continue(state) => fold_op(state, item).branch(),
            stop => stop,
        };
        Self { base, state: Held::new(next), fold_op }
    }

    fn complete(self) -> B::Result {
        let item = match self.state.release() {
            Continue(output) => R::from_output(output),
            Break(stop) => R::from_residual(stop),
        };
        self.base.consume(item).complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.state.is_break() || self.base.full()
    }
}
