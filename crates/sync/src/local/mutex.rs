//! A lock around a value, for one thread.

use super::block::{block_local, block_local_timeout};
use super::permits::{Permits, Take};
use crate::waiting::awaited;
use sateen_base::prim::UnsafeCell;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Mutual exclusion for the fibers and futures of one thread, whose critical sections may wait.
///
/// Fair: the lock is handed to the longest waiter. No poisoning. The [module](super) describes what
/// the local forms have in common.
///
/// # Cost
/// 48 bytes and the value; a load and a store to lock, and to unlock.
///
/// # Examples
///
/// ```
/// use sateen::sync::local::Mutex;
/// let mutex = Mutex::new(1);
/// *mutex.lock() += 1;
/// assert_eq!(*mutex.lock(), 2);
/// ```
pub struct Mutex<T: ?Sized> {
    permits: Permits,
    value: UnsafeCell<T>,
}

impl<T> Mutex<T> {
    crate::sys::const_except_loom! {
        /// An unlocked mutex holding `value`.
        pub const fn new(value: T) -> Self {
            Self { permits: Permits::new(1), value: UnsafeCell::new(value) }
        }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Acquires the lock; suspends the fiber while it is held.
    ///
    /// # Panics
    /// If it is held, and this thread runs no other fiber that could release it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        match self.try_lock() {
            Some(guard) => guard,
            None => block_local(awaited("mutex", self), self.lock_async()),
        }
    }

    /// Acquires the lock if it is free and nobody waits.
    ///
    /// ```
    /// let mutex = sateen::sync::local::Mutex::new(1);
    /// let guard = mutex.lock();
    /// assert!(mutex.try_lock().is_none());
    /// # drop(guard);
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.permits.try_take(1).then(|| MutexGuard { mutex: self })
    }

    /// [`lock`](Self::lock) with a limit.
    pub fn try_lock_for(&self, timeout: Duration) -> Option<MutexGuard<'_, T>> {
        block_local_timeout(awaited("mutex", self), timeout, self.lock_async())
    }

    /// [`lock`](Self::lock) as a future.
    pub fn lock_async(&self) -> Lock<'_, T> {
        Lock { mutex: self, take: self.permits.take(1) }
    }

    /// The value, without locking.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: the exclusive borrow of the mutex covers the value.
        self.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Mutex");
        match self.try_lock() {
            Some(guard) => out.field("data", &&*guard).finish(),
            None => out.field("data", &format_args!("<locked>")).finish(),
        }
    }
}

/// Access to the value of a locked [`Mutex`]; unlocks when dropped.
#[must_use = "the mutex is unlocked as soon as its guard is dropped"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The mutex of this guard.
    pub fn mutex(guard: &Self) -> &'a Mutex<T> {
        guard.mutex
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard owns the one permit, and the result borrows the guard.
        self.mutex.value.with(|value| unsafe { &*value })
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, borrowing the guard exclusively.
        self.mutex.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.permits.put(1);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The future of [`Mutex::lock_async`].
#[must_use = "futures do nothing unless polled"]
pub struct Lock<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    take: Take<'a>,
}

impl<'a, T: ?Sized> Future for Lock<'a, T> {
    type Output = MutexGuard<'a, T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<MutexGuard<'a, T>> {
        let mutex = self.mutex;
        // SAFETY: `take` is pinned with us and never moved.
        let take = unsafe { self.map_unchecked_mut(|this| &mut this.take) };
        // It is never closed.
        take.poll(cx).map(|_| MutexGuard { mutex })
    }
}

impl<T: ?Sized> fmt::Debug for Lock<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}
