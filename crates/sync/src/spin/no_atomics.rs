//! A lock for one thread.

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A lock for one thread, without atomics.
///
/// It is not `Sync`, and so neither is a mutex of this kind: the compiler excludes other threads,
/// and locking costs a load and a store. It is for structures that are generic over a lock and used
/// by one thread.
///
/// Locking it twice ends the process: no other thread could unlock it, so it would wait for ever.
/// (`try_lock` returns false.) A panic would be unsound: `lock_api`'s guards relock after
/// `unlocked`, and unwinding out of that would leave a second guard.
///
/// ```
/// let lock = lock_api::Mutex::<sateen::sync::spin::NoAtomics, _>::new(1);
/// *lock.lock() += 1;
/// assert_eq!(*lock.lock(), 2);
/// ```
///
/// ```compile_fail
/// let lock = lock_api::Mutex::<sateen::sync::spin::NoAtomics, _>::new(1);
/// std::thread::scope(|s| {
///     s.spawn(|| *lock.lock() += 1);
/// });
/// ```
#[derive(Debug, Default)]
pub struct NoAtomics(Cell<bool>);

// A flag is never inconsistent.
impl RefUnwindSafe for NoAtomics {}
impl UnwindSafe for NoAtomics {}

impl NoAtomics {
    /// A free lock.
    pub const fn new() -> Self {
        Self(Cell::new(false))
    }

    #[cold]
    fn locked_twice() -> ! {
        sateen_base::abort_with(
            "a NoAtomics lock was locked twice: nobody could unlock it meanwhile",
        )
    }
}

// SAFETY: one thread gets here, and the flag lets it through once until `unlock`.
unsafe impl lock_api::RawMutex for NoAtomics {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self::new();

    type GuardMarker = lock_api::GuardNoSend;

    #[inline(always)]
    fn lock(&self) {
        if self.0.replace(true) {
            Self::locked_twice();
        }
    }

    #[inline(always)]
    fn try_lock(&self) -> bool {
        !self.0.replace(true)
    }

    #[inline(always)]
    unsafe fn unlock(&self) {
        self.0.set(false);
    }

    fn is_locked(&self) -> bool {
        self.0.get()
    }
}
