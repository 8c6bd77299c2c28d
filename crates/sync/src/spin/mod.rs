//! Spinlocks: raw locks for threads, of several kinds with one interface.
//!
//! Each kind is a [`lock_api::RawMutex`], so `lock_api::Mutex<Kind, T>` is a mutex; [`Mutex`] is a
//! short name for that. Other structures take the kind as a type parameter.
//!
//! | Kind | Waits by | Use it if |
//! |---|---|---|
//! | [`TtasAdaptiveFutex`] | spinning while that has helped, then sleeping | nothing is known |
//! | [`Ttas`] | spinning, then yielding | sections are short, each thread has a core |
//! | [`Mcs`] | spinning in a queue | order must be strict, each thread has a core |
//! | [`NoAtomics`] | never | there is one thread, and the code is generic over its lock |
//!
//! For fibers and futures, and for sections that block, use [`crate::Mutex`]: these locks block the
//! thread.
//!
//! # What holds for all
//!
//! They are not re-entrant: a thread that locks twice waits for ever ([`NoAtomics`] ends the
//! process).
//!
//! There is no poisoning: a panic drops the guard, which unlocks, and others see the value as it
//! is. [`crate::poison`] has locks with poisoning. If a thread ends without dropping its guard, the
//! lock stays locked for ever.
//!
//! A lock must outlive the call that unlocks it, as borrows ensure: some kinds access the lock
//! after they have released it.
//!
//! Spin limits are a type parameter: [`SpinConfig`]. States, protocols and proof sketches are in
//! the `README.md` of this folder.
//!
//! ```
//! use sateen::sync::spin::{Mutex, TtasAdaptiveFutex};
//! static HITS: Mutex<TtasAdaptiveFutex, u32> = Mutex::new(0);
//! *HITS.lock() += 1;
//! assert_eq!(*HITS.lock(), 1);
//! ```

mod adaptive_futex;
mod config;
mod experience;
mod mcs;
mod no_atomics;
mod ttas;
mod wait;

pub use adaptive_futex::TtasAdaptiveFutex;
pub use config::{Cores, Limits, OneCore, SpinConfig, Standard};
pub use mcs::Mcs;
pub use no_atomics::NoAtomics;
pub use ttas::Ttas;

/// A mutex of kind `K` around a `T`.
///
/// ```
/// use sateen::sync::spin;
/// let total = spin::Mutex::<spin::Ttas, _>::new(1);
/// *total.lock() += 1;
/// assert_eq!(total.into_inner(), 2);
/// ```
pub type Mutex<K, T> = lock_api::Mutex<K, T>;
/// Guard of a [`Mutex`].
pub type MutexGuard<'a, K, T> = lock_api::MutexGuard<'a, K, T>;

/// The common part of all kinds: `Default`, `Debug`, and the trait. The type has `new`, `take`,
/// `take_slow`, `try_take`, `give` and `is_held`; each use argues why the kind excludes.
macro_rules! raw_mutex {
    ($kind:ident $(<$c:ident>)?) => {
        impl $(<$c: $crate::spin::SpinConfig>)? Default for $kind $(<$c>)? {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $(<$c: $crate::spin::SpinConfig>)? std::fmt::Debug for $kind $(<$c>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($kind))
                    .field("locked", &self.is_held())
                    .finish_non_exhaustive()
            }
        }

        // SAFETY: argued at each use.
        unsafe impl $(<$c: $crate::spin::SpinConfig>)? lock_api::RawMutex for $kind $(<$c>)? {
            #[cfg(not(loom))]
            #[allow(clippy::declare_interior_mutable_const)]
            const INIT: Self = Self::new();
            #[cfg(loom)]
            const INIT: Self = panic!("loom locks are made with `lock_api::Mutex::from_raw`");

            // The holder is not tied to a thread.
            type GuardMarker = lock_api::GuardSend;

            #[inline]
            fn lock(&self) {
                if !self.take() {
                    self.take_slow();
                }
            }

            #[inline]
            fn try_lock(&self) -> bool {
                self.try_take()
            }

            #[inline]
            unsafe fn unlock(&self) {
                self.give();
            }

            fn is_locked(&self) -> bool {
                self.is_held()
            }
        }
    };
}
use raw_mutex;
