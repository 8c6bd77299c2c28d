//! Scopes whose spawns run where they are made.

use sateen_base::SpinLock;
use sateen_base::unwind::FirstPanic;
use std::marker::PhantomData;

/// Spawns work that borrows from the frames around it; see [`scope`].
#[derive(Debug)]
pub struct Scope<'scope> {
    panic: SpinLock<FirstPanic>,
    /// Invariant in the lifetime, so that a spawn cannot be given a shorter one.
    marker: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope> Scope<'scope> {
    /// Runs `f`, which may borrow whatever outlives the scope, and may spawn in turn.
    ///
    /// If it panics, [`scope`] passes the panic on at its end.
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let mut panics = FirstPanic::new();
        panics.catch(|| f(self));
        if let Some(panic) = panics.take() {
            self.panic.lock().keep(panic);
        }
    }
}

/// Runs `f` with a scope, whose spawns run where they are made.
///
/// # Panics
/// With the panic of `f`, or else with the first one of a spawn.
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
    let scope = Scope { panic: SpinLock::new(FirstPanic::new()), marker: PhantomData };
    let result = f(&scope);
    scope.panic.into_inner().resume();
    result
}
