//! Fork-join on the calling thread, for targets without threads such as WebAssembly.
//!
//! The loops of `par` use this as they use workers elsewhere.

pub(crate) mod lazy;
mod scope;

pub use scope::{Scope, scope};

use crate::unwind::Held;

/// Runs both closures on the calling thread and returns both results.
///
/// ```
/// let (a, b) = sateen::join(|| 1 + 1, || 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
///
/// # Panics
/// With the panic of a closure. If the first panics, the second does not run.
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    // Held, so that a panic of `b` does not meet another from this result's destructor.
    let a = Held::new(a());
    let b = b();
    (a.release(), b)
}

/// Runs all closures in order on the calling thread, and returns their results.
///
/// ```
/// let squares = sateen::fork([1u64, 2, 3].map(|x| move || x * x));
/// assert_eq!(squares, [1, 4, 9]);
/// ```
///
/// # Panics
/// With the panic of a closure. Later closures do not run.
#[inline]
pub fn fork<F, R, const N: usize>(fs: [F; N]) -> [R; N]
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    // As in `join`; closures that do not run have destructors too.
    fs.map(Held::new).map(|f| Held::new(f.release()())).map(Held::release)
}

/// The number of workers for loops: 1, the calling thread.
pub fn current_num_threads() -> usize {
    1
}

/// The index of the caller's worker: `None`, as there are no workers.
pub fn worker_index() -> Option<usize> {
    None
}
