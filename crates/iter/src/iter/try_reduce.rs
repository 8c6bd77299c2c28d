//! `try_reduce` and `try_reduce_with`.

use super::ParallelIterator;
use super::end::{End, Ended};
use super::flag::Flag;
use super::plumbing::Folder;
use super::private::Try;
use crate::driver::broken;
use sateen_base::unwind::Held;
use std::ops::ControlFlow::{self, Break, Continue};

/// Joins outputs until an item stops.
struct TryReduce<'f, ID, F> {
    /// Makes the identity. `None` if there is none: a piece without items then has no result.
    identity: &'f ID,
    op: &'f F,
    stopped: &'f Flag,
}

impl<ID, F> Clone for TryReduce<'_, ID, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<ID, F> Copy for TryReduce<'_, ID, F> {}

pub(super) fn try_reduce<I, T, ID, F>(items: I, identity: &ID, op: &F) -> I::Item
where
    I: ParallelIterator,
    I::Item: Try<Output = T>,
    ID: Fn() -> T + Sync,
    F: Fn(T, T) -> I::Item + Sync,
{
    let stopped = &Flag::new();
    let identity = &|| Some(identity());
    let reduced = items.drive_unindexed(Ended(TryReduce { identity, op, stopped }));
    match reduced {
        Some(item) => item,
        // Every piece begins with an identity.
        None => broken("a piece without its identity"),
    }
}

pub(super) fn try_reduce_with<I, T, F>(items: I, op: &F) -> Option<I::Item>
where
    I: ParallelIterator,
    I::Item: Try<Output = T>,
    F: Fn(T, T) -> I::Item + Sync,
{
    let stopped = &Flag::new();
    items.drive_unindexed(Ended(TryReduce { identity: &|| None, op, stopped }))
}

impl<'f, R, ID, F> End<R> for TryReduce<'f, ID, F>
where
    R: Try + Send,
    ID: Fn() -> Option<R::Output> + Sync,
    F: Fn(R::Output, R::Output) -> R + Sync,
{
    type Folder = TryFolder<'f, R, F>;
    type Result = Option<R>;

    #[inline]
    fn folder(self) -> Self::Folder {
        let state = Held::new(Continue((self.identity)()));
        TryFolder { state, op: self.op, stopped: self.stopped }
    }

    fn reduce(self, left: Option<R>, right: Option<R>) -> Option<R> {
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return left.or(right),
        };
        Some(match (left.branch(), right.branch()) {
            (Continue(left), Continue(right)) => (self.op)(left, right),
            (Break(stop), _) | (_, Break(stop)) => R::from_residual(stop),
        })
    }

    #[inline]
    fn full(self) -> bool {
        self.stopped.is_raised()
    }
}

type State<R> = ControlFlow<<R as Try>::Residual, Option<<R as Try>::Output>>;

struct TryFolder<'f, R: Try, F> {
    /// Held while the source's code runs.
    state: Held<State<R>>,
    op: &'f F,
    stopped: &'f Flag,
}

impl<R, F> Folder<R> for TryFolder<'_, R, F>
where
    R: Try,
    F: Fn(R::Output, R::Output) -> R,
{
    type Result = Option<R>;

    #[inline]
    fn consume(self, item: R) -> Self {
        let Self { state, op, stopped } = self;
        let next = match (state.release(), item.branch()) {
            (Continue(Some(so_far)), Continue(item)) => op(so_far, item).branch(),
            (Continue(None), item) => item,
            (Continue(_), Break(stop)) | (Break(stop), _) => Break(stop),
        };
        if next.is_break() {
            stopped.raise();
        }
        let next = match next {
            Continue(output) => Continue(Some(output)),
            Break(stop) => Break(stop),
        };
        Self { state: Held::new(next), op, stopped }
    }

    fn complete(self) -> Option<R> {
        match self.state.release() {
            Continue(output) => output.map(R::from_output),
            Break(stop) => Some(R::from_residual(stop)),
        }
    }

    #[inline]
    fn full(&self) -> bool {
        self.state.is_break() || self.stopped.is_raised()
    }
}
