//! A semaphore for one thread.

use super::block::{block_local, block_local_timeout};
use super::permits::{Permits, Take};
use crate::semaphore::AcquireError;
use crate::waiting::awaited;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A semaphore for the fibers and futures of one thread.
///
/// Like [`sateen_sync::Semaphore`](crate::Semaphore): first come, first served, permits are guards,
/// and it can be closed. The [module](super) describes what the local forms have in common.
///
/// ```
/// use sateen::sync::local::Semaphore;
/// let semaphore = Semaphore::new(2);
/// let permit = semaphore.acquire(2).unwrap();
/// assert!(semaphore.try_acquire(1).is_err());
/// drop(permit);
/// assert!(semaphore.try_acquire(1).is_ok());
/// ```
pub struct Semaphore {
    permits: Permits,
}

impl Semaphore {
    crate::sys::const_except_loom! {
        /// A semaphore with `permits` free permits; 0 is allowed.
        pub const fn new(permits: usize) -> Self {
            Self { permits: Permits::new(permits) }
        }
    }

    /// Takes `n` permits; suspends the fiber while there are fewer, or others wait. Taking 0 never
    /// waits.
    ///
    /// # Errors
    /// [`AcquireError::Closed`] if it is or becomes closed.
    ///
    /// # Panics
    /// If this thread runs no other fiber that could return permits.
    #[inline]
    pub fn acquire(&self, n: usize) -> Result<SemaphoreGuard<'_>, AcquireError> {
        match self.try_acquire(n) {
            Err(AcquireError::NoPermits) => {
                block_local(awaited("semaphore", self), self.acquire_async(n))
            }
            result => result,
        }
    }

    /// Takes `n` permits if they are free and no other waits.
    ///
    /// # Errors
    /// [`AcquireError::NoPermits`], [`AcquireError::Closed`].
    #[inline]
    pub fn try_acquire(&self, n: usize) -> Result<SemaphoreGuard<'_>, AcquireError> {
        if self.permits.is_closed() {
            return Err(AcquireError::Closed);
        }
        let taken = self.permits.try_take(n);
        taken.then(|| SemaphoreGuard { semaphore: self, n }).ok_or(AcquireError::NoPermits)
    }

    /// [`acquire`](Self::acquire) with a time limit.
    ///
    /// # Errors
    /// [`AcquireError::TimedOut`], and as `acquire`.
    pub fn acquire_timeout(
        &self,
        n: usize,
        timeout: Duration,
    ) -> Result<SemaphoreGuard<'_>, AcquireError> {
        block_local_timeout(awaited("semaphore", self), timeout, self.acquire_async(n))
            .unwrap_or(Err(AcquireError::TimedOut))
    }

    /// [`acquire`](Self::acquire) as a future.
    pub fn acquire_async(&self, n: usize) -> Acquire<'_> {
        Acquire { semaphore: self, n, take: self.permits.take(n) }
    }

    /// Adds `n` permits.
    ///
    /// # Panics
    /// If more than `usize::MAX` would be free; nothing is added.
    pub fn add_permits(&self, n: usize) {
        assert!(self.permits.put(n), "adding {n} permits: more than a semaphore can hold");
    }

    /// The number of free permits.
    pub fn available_permits(&self) -> usize {
        self.permits.free()
    }

    /// Closes it: all waits and all later calls end with [`AcquireError::Closed`].
    pub fn close(&self) {
        self.permits.close();
    }

    /// Whether [`close`](Self::close) was called.
    pub fn is_closed(&self) -> bool {
        self.permits.is_closed()
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("available", &self.available_permits())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// Permits of a [`Semaphore`], returned when dropped.
#[must_use = "the permits are given back as soon as their guard is dropped"]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct SemaphoreGuard<'a> {
    semaphore: &'a Semaphore,
    n: usize,
}

impl SemaphoreGuard<'_> {
    /// The number of permits.
    pub fn permits(&self) -> usize {
        self.n
    }

    /// Keeps the permits for good.
    pub fn forget(mut self) {
        self.n = 0;
    }
}

impl Drop for SemaphoreGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // There is only no room if as many permits were added meanwhile. Then the semaphore is full
        // anyway.
        self.semaphore.permits.put(self.n);
    }
}

/// The future of [`Semaphore::acquire_async`].
#[must_use = "futures do nothing unless polled"]
pub struct Acquire<'a> {
    semaphore: &'a Semaphore,
    n: usize,
    take: Take<'a>,
}

impl<'a> Future for Acquire<'a> {
    type Output = Result<SemaphoreGuard<'a>, AcquireError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (semaphore, n) = (self.semaphore, self.n);
        // SAFETY: `take` is pinned with us and never moved.
        let take = unsafe { self.map_unchecked_mut(|this| &mut this.take) };
        take.poll(cx).map(|taken| {
            let guard = taken.ok().map(|()| SemaphoreGuard { semaphore, n });
            guard.filter(|_| !semaphore.is_closed()).ok_or(AcquireError::Closed)
        })
    }
}

impl fmt::Debug for Acquire<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").field("n", &self.n).finish_non_exhaustive()
    }
}
