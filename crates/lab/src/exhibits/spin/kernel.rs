//! The mutex that always enters the kernel.
//!
//! | word | meaning |
//! |---|---|
//! | 0 | free |
//! | 1 | held |

use super::raw_mutex;
use sateen_base::os;
use std::sync::atomic::{AtomicU32, Ordering};

/// A mutex that enters the kernel at each lock and each unlock, as old mutexes did.
///
/// Locking asks the kernel to sleep while the lock is held. Unlocking asks it to wake a thread,
/// even if none sleeps.
pub(crate) struct Kernel {
    word: AtomicU32,
}

impl Kernel {
    /// A free lock.
    pub(crate) const fn new() -> Self {
        Self { word: AtomicU32::new(0) }
    }

    #[inline]
    fn take(&self) -> bool {
        os::futex_wait(&self.word, 1, None);
        self.try_take()
    }

    #[cold]
    fn take_slow(&self) {
        while !self.take() {}
    }

    #[inline]
    fn try_take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    fn give(&self) {
        // Ordering: Release publishes the critical section to the next `try_take`.
        self.word.store(0, Ordering::Release);
        os::futex_wake_one(&self.word);
    }
}

// SAFETY: the exchange in `try_take` lets one through until `give`.
raw_mutex!(Kernel);
