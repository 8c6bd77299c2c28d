//! Loops over a range that fold pieces of it into values.

use super::Grain;
use super::lazy::{Lazy, Piece};
use crate::unwind::Held;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

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

/// Indices that nobody has begun.
struct Rest<'f, R, I, F, C> {
    range: Range<usize>,
    functions: Functions<'f, I, F, C>,
    makes: PhantomData<fn() -> R>,
}

struct Part<'f, R, I, F, C> {
    rest: Rest<'f, R, I, F, C>,
    /// Held wherever other code of the user's runs meanwhile.
    acc: Held<R>,
}

/// What a halved piece has made, and how to add its halves.
struct Kept<'f, R, C> {
    acc: Held<R>,
    combine: &'f C,
}

impl<'f, R, I, F, C> Piece for Part<'f, R, I, F, C>
where
    R: Send,
    I: Fn() -> R + Sync,
    F: Fn(R, Range<usize>) -> R + Sync,
    C: Fn(R, R) -> R + Sync,
{
    type Rest = Rest<'f, R, I, F, C>;
    type Kept = Kept<'f, R, C>;
    type Output = R;

    #[inline(always)]
    fn begin(rest: Self::Rest) -> Self {
        let acc = Held::new((rest.functions.identity)());
        Self { rest, acc }
    }

    #[inline(always)]
    fn left(&self) -> usize {
        self.rest.range.len()
    }

    #[inline(always)]
    fn work(self, count: usize) -> ControlFlow<R, Self> {
        let Self { mut rest, acc } = self;
        let Range { start, end } = rest.range;
        if start == end {
            return ControlFlow::Break(acc.release());
        }
        let next = start + count;
        let acc = (rest.functions.fold)(acc.release(), start..next);
        if next == end {
            return ControlFlow::Break(acc);
        }
        rest.range = next..end;
        ControlFlow::Continue(Self { rest, acc: Held::new(acc) })
    }

    #[inline(always)]
    fn halve(self) -> (Self::Kept, Self::Rest, Self::Rest) {
        let Self { rest: Rest { range, functions, makes }, acc } = self;
        let middle = range.start + range.len() / 2;
        let rest = |range| Rest { range, functions, makes };
        let kept = Kept { acc, combine: functions.combine };
        (kept, rest(range.start..middle), rest(middle..range.end))
    }

    #[inline(always)]
    fn end(self) -> R {
        self.acc.release()
    }

    #[inline(always)]
    fn join(Kept { acc, combine }: Self::Kept, a: R, b: R) -> R {
        let b = Held::new(b);
        let low = combine(acc.release(), a);
        combine(low, b.release())
    }
}

/// Folds every index into values made by `identity`, and combines these in order.
pub(super) fn fold<R: Send>(
    grain: Grain,
    range: Range<usize>,
    identity: &(impl Fn() -> R + Sync),
    fold: &(impl Fn(R, Range<usize>) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let functions = Functions { identity, fold, combine };
    Lazy::new(grain).run::<Part<'_, R, _, _, _>>(Rest { range, functions, makes: PhantomData })
}
