//! Libraries that run two closures in parallel and wait for both.

use crate::error::Error;
use std::ops::Range;

/// A fork-join library.
///
/// `Ctx` is what the library passes down through nested joins, or `()` if it finds its worker by
/// itself. Only `join` is required. The rest defaults to nested joins; a library overrides what it
/// has a form of its own for.
pub(crate) trait ForkJoin: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Whether a branch starts on another worker although its sibling waits for it. A library whose
    /// owner shares work only when it polls would wait for ever.
    const RENDEZVOUS: bool;
    /// Whether the library has loops over slices of its own, such as [`ForkJoin::sort`]. Their
    /// defaults here do not run in parallel.
    const SLICES: bool;
    /// Whether dropping the pool leaves threads behind. Each turn then runs in a process of its
    /// own.
    const LINGERS: bool = false;
    /// Running workers; dropping it ends them.
    type Pool;
    type Ctx<'a>;

    /// Starts `workers` workers (the caller may be one of them).
    ///
    /// # Errors
    /// A thread cannot be created.
    fn build(workers: usize) -> Result<Self::Pool, Error>;

    /// Runs `f` on a worker.
    fn enter<R: Send>(pool: &Self::Pool, f: impl FnOnce(&mut Self::Ctx<'_>) -> R + Send) -> R;

    /// Returns both results; `a` and `b` may run in parallel.
    fn join<A, B, RA, RB>(ctx: &mut Self::Ctx<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Self::Ctx<'_>) -> RA + Send,
        B: FnOnce(&mut Self::Ctx<'_>) -> RB + Send,
        RA: Send,
        RB: Send;

    /// Returns the sum of `f(0)` to `f(9)`, all of which may run in parallel.
    fn ten(ctx: &mut Self::Ctx<'_>, f: impl Fn(&mut Self::Ctx<'_>, u64) -> u64 + Sync) -> u64 {
        let f = &f;
        let (low, high) = Self::join(
            ctx,
            |c| five::<Self>(c, |c, i| f(c, i)),
            |c| five::<Self>(c, |c, i| f(c, i + 5)),
        );
        low + high
    }

    /// Calls `f` for each index below `n`. The default halves down to `grain`.
    fn for_each(ctx: &mut Self::Ctx<'_>, n: usize, grain: usize, f: impl Fn(usize) + Sync) {
        halves::<Self>(ctx, 0..n, grain, &f);
    }

    /// Returns the sum of `values`, left to right within a piece. The default halves down to
    /// `grain`.
    fn sum(ctx: &mut Self::Ctx<'_>, values: &[f64], grain: usize) -> f64 {
        if values.len() <= grain {
            return values.iter().sum();
        }
        let (low, high) = values.split_at(values.len() / 2);
        let (a, b) = Self::join(ctx, |c| Self::sum(c, low, grain), |c| Self::sum(c, high, grain));
        a + b
    }

    /// Returns the sum of `values`, as a user of the library would write it.
    fn sum_slice(_ctx: &mut Self::Ctx<'_>, values: &[u64]) -> u64 {
        values.iter().sum()
    }

    /// Returns `f` of each of `values`, in their order, in a new vector.
    fn map_slice(
        _ctx: &mut Self::Ctx<'_>,
        values: &[u64],
        f: impl Fn(&u64) -> u64 + Sync,
    ) -> Vec<u64> {
        values.iter().map(f).collect()
    }

    /// Sorts `values`.
    fn sort(_ctx: &mut Self::Ctx<'_>, values: &mut [u64]) {
        values.sort_unstable();
    }
}

fn five<L: ForkJoin + ?Sized>(
    ctx: &mut L::Ctx<'_>,
    f: impl Fn(&mut L::Ctx<'_>, u64) -> u64 + Sync,
) -> u64 {
    let f = &f;
    let pair = |c: &mut L::Ctx<'_>, i| {
        let (a, b) = L::join(c, |c| f(c, i), |c| f(c, i + 1));
        a + b
    };
    let triple = |c: &mut L::Ctx<'_>| {
        let (a, b) = L::join(c, |c| f(c, 2), |c| pair(c, 3));
        a + b
    };
    let (a, b) = L::join(ctx, |c| pair(c, 0), triple);
    a + b
}

fn halves<L: ForkJoin + ?Sized>(
    ctx: &mut L::Ctx<'_>,
    range: Range<usize>,
    grain: usize,
    f: &(impl Fn(usize) + Sync),
) {
    if range.len() <= grain {
        range.for_each(f);
        return;
    }
    let middle = range.start + range.len() / 2;
    L::join(
        ctx,
        |c| halves::<L>(c, range.start..middle, grain, f),
        |c| halves::<L>(c, middle..range.end, grain, f),
    );
}
