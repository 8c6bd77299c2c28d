//! Loops over a range that fold its pieces into values.

use super::lazy::Lazy;
use super::piece::Piece;
use crate::unwind::Held;
use sateen_base::abort_with;
use sateen_base::unwind::Replaced;
use std::marker::PhantomData;
use std::ops::Range;

/// The functions of a loop.
struct Functions<'f, I, F, C> {
    identity: &'f I,
    fold: &'f F,
    combine: &'f C,
}

impl<I, F, C> Clone for Functions<'_, I, F, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<I, F, C> Copy for Functions<'_, I, F, C> {}

/// A part of the range that has not begun.
struct Rest<'f, R, I, F, C> {
    range: Range<usize>,
    functions: Functions<'f, I, F, C>,
    makes: PhantomData<fn() -> R>,
}

struct Folding<'f, R, I, F, C>(PhantomData<(Rest<'f, R, I, F, C>, R)>);

/// The value folded so far.
struct Folded<'f, R, C> {
    acc: Replaced<R>,
    combine: &'f C,
}

impl<'f, R, I, F, C> Piece for Folding<'f, R, I, F, C>
where
    R: Send,
    I: Fn() -> R + Sync,
    F: Fn(R, Range<usize>) -> R + Sync,
    C: Fn(R, R) -> R + Sync,
{
    type Rest = Rest<'f, R, I, F, C>;
    type State = Folded<'f, R, C>;
    type Seam = ();
    type Output = R;

    #[inline]
    fn begin(rest: &Self::Rest) -> Self::State {
        let Functions { identity, combine, .. } = rest.functions;
        Folded { acc: Replaced::new(identity()), combine }
    }

    #[inline]
    fn left(rest: &Self::Rest) -> usize {
        rest.range.len()
    }

    #[inline]
    fn work(state: &mut Self::State, mut rest: Self::Rest, count: usize) -> Option<Self::Rest> {
        let Range { start, end } = rest.range;
        let next = start + count;
        state.acc.by(|acc| (rest.functions.fold)(acc, start..next));
        rest.range = next..end;
        (next < end).then_some(rest)
    }

    #[inline]
    fn halve(rest: Self::Rest) -> (Self::Rest, (), Self::Rest) {
        let Rest { range, functions, makes } = rest;
        let middle = range.start + range.len() / 2;
        let part = |range| Rest { range, functions, makes };
        (part(range.start..middle), (), part(middle..range.end))
    }

    #[inline]
    fn give_up(_state: &mut Self::State, _rest: Self::Rest) {}

    #[inline]
    fn go_on(_state: &mut Self::State, (): ()) {}

    #[inline]
    fn append(state: &mut Self::State, (): (), output: R) {
        let combine = state.combine;
        let output = Held::new(output);
        state.acc.by(|acc| combine(acc, output.release()));
    }

    #[inline]
    fn end(state: Self::State) -> R {
        match state.acc.release() {
            Some(acc) => acc,
            None => abort_with("a loop goes on after a panic"),
        }
    }
}

/// Folds all indices into values that start from `identity`, and combines the values in order.
pub(super) fn fold<R: Send>(
    range: Range<usize>,
    identity: &(impl Fn() -> R + Sync),
    fold: &(impl Fn(R, Range<usize>) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let functions = Functions { identity, fold, combine };
    if range.is_empty() {
        return identity();
    }
    let rest = Rest { range, functions, makes: PhantomData };
    Lazy::at_least(1).run::<Folding<'_, R, _, _, _>>(rest)
}
