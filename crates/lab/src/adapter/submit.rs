//! Libraries that take a closure from any thread and run it on a worker.

use crate::error::Error;

/// A pool that closures can be submitted to.
pub(crate) trait Submit: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Whether a submitted closure runs on a thread other than the submitter's.
    const ELSEWHERE: bool;
    /// Whether dropping the pool leaves threads behind. Each turn then runs in a process of its
    /// own.
    const LINGERS: bool = false;
    /// Running workers; dropping it ends them.
    type Pool;

    /// Starts `workers` workers.
    ///
    /// # Errors
    /// A thread cannot be created.
    fn build(workers: usize) -> Result<Self::Pool, Error>;

    /// Submits `f` from outside.
    fn submit(pool: &Self::Pool, f: impl FnOnce() + Send + 'static);

    /// Submits `f` from within a closure that runs on a worker.
    fn submit_inside(f: impl FnOnce() + Send + 'static);
}
