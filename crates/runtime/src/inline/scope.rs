//! Scopes whose spawns run at once, on the calling thread.

use sateen_base::SpinLock;
use sateen_base::unwind::discard;
use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Spawns work that borrows from the frames around it; see [`scope`].
#[derive(Debug)]
pub struct Scope<'scope> {
    panic: SpinLock<Option<Box<dyn Any + Send>>>,
    /// Invariant in the lifetime, so that it cannot be shortened for a spawn.
    marker: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope> Scope<'scope> {
    /// Runs `f`, which may borrow anything that outlives the scope, and may spawn in turn.
    ///
    /// If `f` panics, [`scope`] resumes the panic at its end.
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| f(self))) else { return };
        let mut first = self.panic.lock();
        let late = if first.is_none() { first.replace(panic) } else { Some(panic) };
        drop(first);
        // Its destructor is user code, so it runs outside of the lock.
        discard(late);
    }
}

/// Runs `f` with a scope whose spawns run at once, on the calling thread.
///
/// # Panics
/// With the panic of `f`, or else with the first panic of a spawn.
///
/// ```
/// let mut lengths = [0; 2];
/// sateen::scope(|s| {
///     for (word, length) in ["to", "three"].iter().zip(&mut lengths) {
///         s.spawn(move |_| *length = word.len());
///     }
/// });
/// assert_eq!(lengths, [2, 5]);
/// ```
pub fn scope<'scope, OP, R>(f: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    let scope = Scope { panic: SpinLock::new(None), marker: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    match (result, scope.panic.into_inner()) {
        (Ok(value), None) => value,
        (Err(panic), noted) => {
            discard(noted);
            resume_unwind(panic)
        }
        (Ok(value), Some(panic)) => {
            discard(value);
            resume_unwind(panic)
        }
    }
}
