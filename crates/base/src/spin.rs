//! A small spinlock for critical sections of a few instructions.
//!
//! | word | meaning |
//! |---|---|
//! | 0 | free |
//! | 1 | held |
//!
//! Waiters test before they exchange, so that they share the cache line. They pause, then yield the
//! time slice, so that a preempted holder runs if the cores are oversubscribed. (Without the
//! feature `std` they only pause.) Code that holds the lock never blocks, never panics and never
//! runs user code.

use crate::const_except_loom;
use crate::prim::{AtomicU32, Ordering};

/// The lock's word: the whole protocol except the waiting.
#[doc(hidden)]
#[derive(Debug)]
pub struct SpinWord(AtomicU32);

impl SpinWord {
    const_except_loom! {
        /// A free lock's word.
        pub const fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    /// Takes the lock if it is free.
    #[inline(always)]
    pub fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.0.swap(1, Ordering::Acquire) == 0
    }

    /// Whether the lock looked free: a test that keeps waiters from writing to the line.
    #[inline(always)]
    #[cfg(not(loom))]
    fn looks_free(&self) -> bool {
        // Ordering: Relaxed, only a hint; `take` decides.
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Releases the lock.
    #[inline(always)]
    pub fn give(&self) {
        // Ordering: Release publishes the critical section to the next `take`.
        self.0.store(0, Ordering::Release);
    }
}

impl Default for SpinWord {
    fn default() -> Self {
        Self::new()
    }
}

/// The raw lock, for [`lock_api::Mutex`].
///
/// # Cost
/// Uncontended, one locked instruction to acquire it and a plain store to release it.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct RawSpinLock(SpinWord);

/// The lock as the model sees it.
#[cfg(loom)]
#[derive(Debug)]
pub struct RawSpinLock(loom::sync::Mutex<bool>, loom::sync::Condvar);

/// A mutex over [`RawSpinLock`].
///
/// ```
/// let lock = sateen_base::SpinLock::new(1);
/// *lock.lock() += 1;
/// assert_eq!(*lock.lock(), 2);
/// ```
pub type SpinLock<T> = lock_api::Mutex<RawSpinLock, T>;
/// Guard of a [`SpinLock`].
pub type SpinLockGuard<'a, T> = lock_api::MutexGuard<'a, RawSpinLock, T>;

#[cfg(not(loom))]
impl RawSpinLock {
    /// A free lock.
    pub const fn new() -> Self {
        Self(SpinWord::new())
    }

    #[cold]
    fn lock_slow(&self) {
        let mut backoff = crate::Backoff::new();
        loop {
            while !self.0.looks_free() {
                backoff.snooze();
            }
            if self.0.take() {
                return;
            }
        }
    }

    /// Acquires the lock, waiting while it is held.
    #[inline]
    pub fn acquire(&self) {
        if !self.0.take() {
            self.lock_slow();
        }
    }

    /// Acquires the lock if it is free.
    #[inline]
    pub fn try_acquire(&self) -> bool {
        self.0.looks_free() && self.0.take()
    }

    /// Releases the lock. The caller must hold it; otherwise two callers could hold it at once.
    #[inline]
    pub fn release(&self) {
        self.0.give();
    }
}

/// In a model the lock blocks, because the checker cannot tell spinning from an endless loop.
#[cfg(loom)]
impl RawSpinLock {
    /// A free lock (loom's cannot be created at compile time).
    pub fn new() -> Self {
        Self(loom::sync::Mutex::new(false), loom::sync::Condvar::new())
    }

    /// Acquires the lock, waiting while it is held.
    pub fn acquire(&self) {
        let mut held = self.0.lock().unwrap();
        while *held {
            held = self.1.wait(held).unwrap();
        }
        *held = true;
    }

    /// Acquires the lock if it is free.
    pub fn try_acquire(&self) -> bool {
        !core::mem::replace(&mut *self.0.lock().unwrap(), true)
    }

    /// Releases the lock. The caller holds it.
    pub fn release(&self) {
        *self.0.lock().unwrap() = false;
        self.1.notify_one();
    }
}

impl Default for RawSpinLock {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: the exchange in `lock` and `try_lock` lets exactly one caller through until `unlock`.
unsafe impl lock_api::RawMutex for RawSpinLock {
    #[cfg(not(loom))]
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self::new();
    #[cfg(loom)]
    const INIT: Self = panic!("loom locks are made with `lock_api::Mutex::from_raw`");

    type GuardMarker = lock_api::GuardSend;

    #[inline]
    fn lock(&self) {
        self.acquire();
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.try_acquire()
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.release();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::SpinLock;

    #[test]
    fn excludes_with_more_threads_than_cores() {
        const EACH: u64 = if cfg!(miri) { 20 } else { 10_000 };
        let lock = SpinLock::new(0u64);
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    for _ in 0..EACH {
                        *lock.lock() += 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), 8 * EACH);
    }
}
