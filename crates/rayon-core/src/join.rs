//! Two closures, perhaps at the same time.

use crate::registry::{Member, global_registry};
use sateen_runtime::compat;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What a closure of [`join_context`] learns of how it is run.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Neither `Send` nor `Sync`: it is about the thread that runs the closure.
    marker: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(migrated: bool) -> Self {
        Self { migrated, marker: PhantomData }
    }

    /// Whether the closure runs on another thread than the one that called [`join_context`].
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Runs both closures, possibly in parallel, and returns both results.
///
/// `oper_a` runs here and now. Another thread of the pool may take `oper_b` meanwhile; otherwise
/// it runs here afterwards. If it was taken and is not done, the caller waits, and runs no
/// unrelated job in its frame. On a thread that belongs to no pool, both run in the global one.
///
/// # Panics
/// If a closure panics, the panic goes on here once both are done. If both panic, `oper_a`'s does.
///
/// ```
/// fn sum(data: &[u64]) -> u64 {
///     if data.len() < 100 {
///         return data.iter().sum();
///     }
///     let (left, right) = data.split_at(data.len() / 2);
///     let (a, b) = rayon_core::join(|| sum(left), || sum(right));
///     a + b
/// }
/// assert_eq!(sum(&(0..1000).collect::<Vec<_>>()), 499_500);
/// ```
#[inline]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    compat::join_context(|_| oper_a(), |_| oper_b(), join_outside)
}

/// [`join`] whose closures learn whether they run on another thread. Code that splits its work may
/// split further then, because threads are looking for work.
///
/// # Panics
/// As [`join`].
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let moved = pool.install(|| rayon_core::join_context(|a| a.migrated(), |b| b.migrated()));
/// assert_eq!(moved, (false, false));
/// ```
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    compat::join_context(
        |migrated| oper_a(FnContext::new(migrated)),
        |migrated| oper_b(FnContext::new(migrated)),
        join_outside,
    )
}

/// The caller runs on no fiber.
#[cold]
#[inline(never)]
fn join_outside<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(bool) -> RA + Send,
    B: FnOnce(bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    if Member::current().is_some() {
        // An exit handler. All other threads may be gone.
        return join_here(a, b);
    }
    let moved = || compat::join_context(|_| a(true), |_| b(true), join_here);
    global_registry().in_worker(moved)
}

/// Runs one after the other.
#[cold]
fn join_here<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(bool) -> RA,
    B: FnOnce(bool) -> RB,
{
    match catch_unwind(AssertUnwindSafe(|| a(false))) {
        Ok(ra) => (ra, b(false)),
        Err(panic) => {
            compat::discard(catch_unwind(AssertUnwindSafe(|| b(false))));
            resume_unwind(panic)
        }
    }
}
