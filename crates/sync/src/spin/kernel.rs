//! The mutex that always enters the kernel. Protocol: `README.md`, section *Kernel*.
//!
//! | word | meaning |
//! |---|---|
//! | 0 | free |
//! | 1 | held |

use super::raw_mutex;
use crate::sys::FutexWord;
use sateen_base::prim::Ordering;

/// A mutex that enters the kernel at each lock and each unlock, as old mutexes did.
///
/// For comparison only. Locking asks the kernel to sleep while the lock is held. Unlocking asks it
/// to wake a thread, even if none sleeps.
///
/// ```
/// let lock = lock_api::Mutex::<sateen::sync::spin::Kernel, _>::new(1);
/// *lock.lock() += 1;
/// assert_eq!(*lock.lock(), 2);
/// ```
pub struct Kernel {
    word: FutexWord,
}

impl Kernel {
    crate::sys::const_except_loom! {
        /// A free lock.
        pub const fn new() -> Self {
            Self { word: FutexWord::new(0) }
        }
    }

    #[inline]
    fn take(&self) -> bool {
        self.word.wait(1, None);
        self.try_take()
    }

    #[cold]
    fn take_slow(&self) {
        while !self.take() {}
    }

    #[inline]
    fn try_take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.word().compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    fn give(&self) {
        // Ordering: Release publishes the critical section to the next `try_take`.
        self.word.word().store(0, Ordering::Release);
        self.word.wake();
    }

    fn is_held(&self) -> bool {
        self.word.word().load(Ordering::Relaxed) != 0
    }
}

// SAFETY: the exchange in `try_take` lets one through until `give`.
raw_mutex!(Kernel);
