//! Adapter for `chili`.
//!
//! Its scope is passed down through the joins. Every join polls the heartbeat. By default only one
//! join of 64 does, and the others run both branches in sequence without offering one.

use crate::adapter::ForkJoin;
use crate::error::Error;
use chili::{Config, Scope, ThreadPool};
use std::num::NonZero;

/// The caller is one of the workers. There is no way to submit from outside.
pub(crate) struct Chili;

impl ForkJoin for Chili {
    const NAME: &'static str = "chili";
    const RENDEZVOUS: bool = false;
    const SLICES: bool = false;
    type Pool = ThreadPool;
    type Ctx<'a> = Scope<'a>;

    fn build(workers: usize) -> Result<ThreadPool, Error> {
        let thread_count = NonZero::new(workers);
        Ok(ThreadPool::with_config(Config { thread_count, ..Config::default() }))
    }

    fn enter<R: Send>(pool: &ThreadPool, f: impl FnOnce(&mut Scope<'_>) -> R + Send) -> R {
        f(&mut pool.scope())
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(ctx: &mut Scope<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Scope<'_>) -> RA + Send,
        B: FnOnce(&mut Scope<'_>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        ctx.join_with_heartbeat_every::<1, _, _, _, _>(a, b)
    }
}
