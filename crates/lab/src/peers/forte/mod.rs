//! Adapter for `forte`.
//!
//! Its pools are `'static`, so there is one here, grown for each measurement and emptied after it:
//! its heartbeat thread ticks for as long as there are workers. It has no form of submission that
//! runs on another thread: a closure spawned from outside runs on the submitter, so only joins and
//! the idle figure are taken.

use crate::adapter::{ForkJoin, Submit};
use crate::error::Error;
use forte::{ThreadPool, Worker};

static POOL: ThreadPool = ThreadPool::new();

/// The caller is one of the workers of a join.
pub(crate) struct Forte;

/// Empties the pool when dropped.
pub(crate) struct Grown;

impl Drop for Grown {
    fn drop(&mut self) {
        POOL.depopulate();
    }
}

/// A worker, passed down through the joins.
pub(crate) struct Here<'a>(&'a Worker);

impl ForkJoin for Forte {
    const NAME: &'static str = "forte";
    const RENDEZVOUS: bool = false;
    const SORTS: bool = false;
    type Pool = Grown;
    type Ctx<'a> = Here<'a>;

    fn build(workers: usize) -> Result<Grown, Error> {
        POOL.resize_to(workers - 1);
        Ok(Grown)
    }

    fn enter<R: Send>(_: &Grown, f: impl FnOnce(&mut Here<'_>) -> R + Send) -> R {
        POOL.with_worker(|w| f(&mut Here(w)))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(ctx: &mut Here<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Here<'_>) -> RA + Send,
        B: FnOnce(&mut Here<'_>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        ctx.0.join(|w| a(&mut Here(w)), |w| b(&mut Here(w)))
    }
}

impl Submit for Forte {
    const NAME: &'static str = "forte";
    const ELSEWHERE: bool = false;
    type Pool = Grown;

    fn build(workers: usize) -> Result<Grown, Error> {
        POOL.resize_to(workers);
        Ok(Grown)
    }

    fn submit(_: &Grown, f: impl FnOnce() + Send + 'static) {
        POOL.spawn(|_| f());
    }

    fn submit_inside(f: impl FnOnce() + Send + 'static) {
        forte::spawn(|_| f());
    }
}
