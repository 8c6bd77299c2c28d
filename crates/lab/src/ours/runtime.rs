//! The runtime of `sateen`.

use crate::adapter::{Fibers, ForkJoin, OURS, Scopes, Submit, usual_iterators};
use crate::error::{Error, input};
use sateen::Runtime;
use sateen::policy::{self, Scheduling};
use sateen::sync::Event;
use std::sync::Arc;

/// A runtime of its own for each measurement, never the global one.
pub(crate) struct Sateen;

/// Builds a runtime with the default policy.
pub(super) fn runtime(workers: usize) -> Result<Runtime, Error> {
    scheduled(workers, policy::work_stealing())
}

/// Builds a runtime with `policy`.
pub(crate) fn scheduled(workers: usize, policy: Scheduling) -> Result<Runtime, Error> {
    let builder = Runtime::builder().workers(workers).policy(policy);
    builder.build().map_err(|e| input(e.to_string()))
}

impl ForkJoin for Sateen {
    const NAME: &'static str = OURS;
    const RENDEZVOUS: bool = true;
    const SLICES: bool = true;
    type Pool = Runtime;
    type Ctx<'a> = ();

    fn build(workers: usize) -> Result<Runtime, Error> {
        runtime(workers)
    }

    fn enter<R: Send>(pool: &Runtime, f: impl FnOnce(&mut ()) -> R + Send) -> R {
        pool.install(|| f(&mut ()))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(_: &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        sateen::join(|| a(&mut ()), || b(&mut ()))
    }

    #[inline(always)]
    fn ten(_: &mut (), f: impl Fn(&mut (), u64) -> u64 + Sync) -> u64 {
        let f = &f;
        let branches: [_; 10] = std::array::from_fn(|i| move || f(&mut (), i as u64));
        sateen::fork(branches).into_iter().sum()
    }

    fn for_each(_: &mut (), n: usize, _grain: usize, f: impl Fn(usize) + Sync) {
        sateen::par_for(0..n, f);
    }

    fn sum(_: &mut (), values: &[f64], _grain: usize) -> f64 {
        let add = |sum, piece: &[f64]| piece.iter().fold(sum, |sum, value| sum + value);
        sateen::par_fold(values, || 0.0, add, |a, b| a + b)
    }

    fn sum_slice(_: &mut (), values: &[u64]) -> u64 {
        let add = |sum: u64, piece: &[u64]| sum + piece.iter().sum::<u64>();
        sateen::par_fold(values, || 0, add, |a, b| a + b)
    }

    fn map_slice(_: &mut (), values: &[u64], f: impl Fn(&u64) -> u64 + Sync) -> Vec<u64> {
        sateen::par_map(values, f)
    }

    fn sort(_: &mut (), values: &mut [u64]) {
        sateen::par_sort_unstable(values);
    }
}

usual_iterators!(Sateen, sateen::prelude, |values: &[u64]| {
    values.par_iter().copied().inclusive_scan(|a, b| a + b)
});

impl Scopes for Sateen {
    const BY_HAND: &'static str = "sateen-scope";
    type Scope<'s> = sateen::Scope<'s>;

    fn scope<'s>(f: impl FnOnce(&sateen::Scope<'s>) + Send) {
        sateen::scope(f);
    }

    #[inline(always)]
    fn spawn<'s>(scope: &sateen::Scope<'s>, f: impl FnOnce(&sateen::Scope<'s>) + Send + 's) {
        scope.spawn(f);
    }
}

impl Submit for Sateen {
    const NAME: &'static str = OURS;
    const ELSEWHERE: bool = true;
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        runtime(workers)
    }

    fn submit(pool: &Runtime, f: impl FnOnce() + Send + 'static) {
        drop(pool.spawn(f));
    }

    fn submit_inside(f: impl FnOnce() + Send + 'static) {
        drop(sateen::spawn(f));
    }
}

impl Fibers for Sateen {
    type Event = Arc<Event>;

    fn event() -> Arc<Event> {
        Arc::default()
    }

    fn wait(event: &Arc<Event>) {
        event.wait();
    }

    fn here(f: impl FnOnce(&mut ())) {
        f(&mut ());
    }

    fn worker() -> Option<usize> {
        sateen::worker_index()
    }

    fn set(event: &Arc<Event>) {
        event.set();
    }
}
