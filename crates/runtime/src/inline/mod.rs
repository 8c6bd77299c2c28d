//! Fork-join where there are no threads, as on WebAssembly: all of it runs on the calling thread.
//!
//! The loops of `par` are built on this as they are on workers.

pub(crate) mod lazy;
mod scope;

pub use scope::{Scope, scope};

use crate::unwind::Held;

/// Runs both closures and returns both results, on the calling thread.
///
/// ```
/// let (a, b) = sateen::join(|| 1 + 1, || 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
///
/// # Panics
/// With the panic of a closure. After one of the first, the second does not run.
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    // A panic of `b` meets no other from the destructor of the result.
    let a = Held::new(a());
    let b = b();
    (a.release(), b)
}

/// Runs all closures in order, and returns their results, on the calling thread.
///
/// ```
/// let squares = sateen::fork([1u64, 2, 3].map(|x| move || x * x));
/// assert_eq!(squares, [1, 4, 9]);
/// ```
///
/// # Panics
/// With the panic of a closure. Those behind it do not run.
#[inline]
pub fn fork<F, R, const N: usize>(fs: [F; N]) -> [R; N]
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    // As in `join`, and closures that do not run have destructors, too.
    fs.map(Held::new).map(|f| Held::new(f.release()())).map(Held::release)
}

/// How many workers a loop has: 1, the calling thread.
pub fn current_num_threads() -> usize {
    1
}

/// The index of the worker that the caller runs on: none, as there are none.
pub fn worker_index() -> Option<usize> {
    None
}
