//! Adapter for `forte`.
//!
//! Its pools are `'static`. Shrinking a pool waits, under the pool's lock, for a heartbeat thread
//! that needs that lock. So the workers stay, the heartbeat ticks on, and each turn runs in a
//! process of its own. No form of submission runs on another thread: a closure that is spawned from
//! outside runs on the submitter. So it has only the figures of joins, and the idle figure.

use crate::adapter::{ForkJoin, Submit};
use crate::error::Error;
use forte::{ThreadPool, Worker};

static POOL: ThreadPool = ThreadPool::new();

/// The caller is one of the workers of a join.
pub(crate) struct Forte;

/// A worker, passed down through the joins.
pub(crate) struct Here<'a>(&'a Worker);

impl ForkJoin for Forte {
    const NAME: &'static str = "forte";
    const RENDEZVOUS: bool = false;
    const SLICES: bool = false;
    const LINGERS: bool = true;
    type Pool = &'static ThreadPool;
    type Ctx<'a> = Here<'a>;

    fn build(workers: usize) -> Result<Self::Pool, Error> {
        POOL.resize_to(workers - 1);
        Ok(&POOL)
    }

    fn enter<R: Send>(pool: &Self::Pool, f: impl FnOnce(&mut Here<'_>) -> R + Send) -> R {
        pool.with_worker(|w| f(&mut Here(w)))
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
    const LINGERS: bool = true;
    type Pool = &'static ThreadPool;

    fn build(workers: usize) -> Result<Self::Pool, Error> {
        POOL.resize_to(workers);
        Ok(&POOL)
    }

    fn submit(pool: &Self::Pool, f: impl FnOnce() + Send + 'static) {
        pool.spawn(|_| f());
    }

    fn submit_inside(f: impl FnOnce() + Send + 'static) {
        forte::spawn(|_| f());
    }
}
