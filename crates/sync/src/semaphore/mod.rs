//! A counting semaphore. Protocol and proof: the crate's `README.md`, section *Semaphore*.

mod acquire;
mod word;

pub use acquire::Acquire;

use crate::wait_queue::WaitQueue;
use crate::waiting::{awaited, block, block_timeout};
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU64;
use sateen_base::prim::time::Duration;
use std::fmt;
use word::{CLOSED, MAX, WAITERS, WAKING, Word};

/// A counting semaphore.
///
/// * **First come, first served.** While a caller waits, newcomers queue, and
///   [`try_acquire`](Self::try_acquire) fails, even if there are permits. So callers that want few
///   permits do not starve one that wants many. Poll or drop a woken waiter soon: others wait for
///   it.
/// * **Permits are guards**, returned when dropped. [`SemaphoreGuard::forget`] keeps them out of
///   the semaphore, [`add_permits`](Self::add_permits) adds new ones.
/// * **[`close`](Self::close)** ends all waiting with an error, for good.
///
/// # Cost
/// 40 bytes; uncontended, one locked instruction to take and one to return.
///
/// # Examples
///
/// ```
/// use sateen::sync::Semaphore;
///
/// static DOWNLOADS: Semaphore = Semaphore::new(2);
///
/// let one = DOWNLOADS.acquire(1).unwrap();
/// let other = DOWNLOADS.acquire(1).unwrap();
/// assert!(DOWNLOADS.try_acquire(1).is_err());
/// drop(one);
/// assert!(DOWNLOADS.try_acquire(1).is_ok());
/// # drop(other);
/// ```
pub struct Semaphore {
    word: AtomicU64,
    queue: WaitQueue,
}

/// Why permits were not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are too few at the moment, or another waiter came first.
    NoPermits,
    /// The time ran out.
    TimedOut,
    /// More were requested than a semaphore can ever hold ([`Semaphore::MAX_PERMITS`]): this many.
    TooMany(usize),
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the semaphore is closed"),
            Self::NoPermits => f.write_str("not enough free permits"),
            Self::TimedOut => f.write_str("no permits within the time"),
            Self::TooMany(n) => {
                write!(f, "{n} permits asked for, at most {} exist", Semaphore::MAX_PERMITS)
            }
        }
    }
}

impl std::error::Error for AcquireError {}

impl Semaphore {
    /// Most permits that a semaphore can hold: 2^44 - 1, or 2^31 - 1 on 32-bit processors.
    pub const MAX_PERMITS: usize = MAX as usize;

    crate::sys::const_except_loom! {
        /// A semaphore with `permits` free permits; 0 is allowed.
        ///
        /// # Panics
        /// If there are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
        pub const fn new(permits: usize) -> Self {
            assert!(permits <= Self::MAX_PERMITS, "more permits than a semaphore can hold");
            Self { word: AtomicU64::new(Word::new(permits as u64).0), queue: WaitQueue::new() }
        }
    }

    /// Takes `n` permits. While there are fewer, or others wait, a thread blocks and a fiber
    /// suspends. Taking 0 never waits.
    ///
    /// # Errors
    /// [`AcquireError::Closed`] if it is or becomes closed; [`AcquireError::TooMany`].
    ///
    /// See [`Semaphore`] for an example.
    #[inline]
    pub fn acquire(&self, n: usize) -> Result<SemaphoreGuard<'_>, AcquireError> {
        match self.try_acquire(n) {
            Err(AcquireError::NoPermits) => self.acquire_slow(n),
            result => result,
        }
    }

    #[cold]
    fn acquire_slow(&self, n: usize) -> Result<SemaphoreGuard<'_>, AcquireError> {
        block(awaited("semaphore", self), Acquire::new(self, n))
    }

    /// Takes `n` permits if they are free and nobody waits; never waits.
    ///
    /// # Errors
    /// [`AcquireError::NoPermits`], [`AcquireError::Closed`], [`AcquireError::TooMany`].
    ///
    /// # Examples
    ///
    /// ```
    /// use sateen::sync::{AcquireError, Semaphore};
    /// let semaphore = Semaphore::new(3);
    /// assert_eq!(semaphore.try_acquire(4).unwrap_err(), AcquireError::NoPermits);
    /// assert_eq!(semaphore.try_acquire(3).unwrap().permits(), 3);
    /// ```
    #[inline]
    pub fn try_acquire(&self, n: usize) -> Result<SemaphoreGuard<'_>, AcquireError> {
        if n > Self::MAX_PERMITS {
            return Err(AcquireError::TooMany(n));
        }
        self.take(n, false)
    }

    /// [`acquire`](Self::acquire) that gives up after `timeout`.
    ///
    /// # Errors
    /// [`AcquireError::TimedOut`], and as `acquire`.
    ///
    /// # Examples
    ///
    /// ```
    /// use sateen::sync::{AcquireError, Semaphore};
    /// use std::time::Duration;
    /// let none = Semaphore::new(0);
    /// let error = none.acquire_timeout(1, Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error, AcquireError::TimedOut);
    /// ```
    pub fn acquire_timeout(
        &self,
        n: usize,
        timeout: Duration,
    ) -> Result<SemaphoreGuard<'_>, AcquireError> {
        match self.try_acquire(n) {
            Err(AcquireError::NoPermits) => {
                block_timeout(awaited("semaphore", self), timeout, Acquire::new(self, n))
                    .unwrap_or(Err(AcquireError::TimedOut))
            }
            result => result,
        }
    }

    /// [`acquire`](Self::acquire) as a future, which may be dropped at any time. It has the same
    /// errors; too large an `n` is reported when it is polled.
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// let semaphore = sateen::sync::Semaphore::new(1);
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let mut two = pin!(semaphore.acquire_async(2));
    /// assert!(two.as_mut().poll(&mut cx).is_pending());
    /// semaphore.add_permits(1);
    /// assert!(two.as_mut().poll(&mut cx).is_ready());
    /// ```
    pub fn acquire_async(&self, n: usize) -> Acquire<'_> {
        Acquire::new(self, n)
    }

    /// Adds `n` permits.
    ///
    /// # Panics
    /// If more than [`MAX_PERMITS`](Self::MAX_PERMITS) would be free; nothing is added. With the
    /// panic of a waker, after they were added.
    pub fn add_permits(&self, n: usize) {
        assert!(self.put(n), "adding {n} permits: more than a semaphore can hold");
    }

    /// Returns permits. Returns false, without a change, if there is no room.
    #[inline]
    fn put(&self, n: usize) -> bool {
        let mut word = self.load();
        loop {
            let Some(more) = word.more(n as u64) else { return false };
            let wake =
                more.has(WAITERS) && !more.has(WAKING | CLOSED) && more.permits() >= more.need();
            let new = if wake { more.with(WAKING) } else { more };
            match self.exchange(word, new) {
                Ok(()) => {
                    if wake {
                        self.wake_front();
                    }
                    return true;
                }
                Err(seen) => word = seen,
            }
        }
    }

    /// The number of free permits at some moment, for reports and not for decisions.
    pub fn available_permits(&self) -> usize {
        self.load().permits() as usize
    }

    /// Closes it: all waits and all later calls end with [`AcquireError::Closed`]. Existing guards
    /// stay valid.
    ///
    /// # Panics
    /// With the first panic of a waker, after all waiters have been released.
    ///
    /// # Examples
    ///
    /// ```
    /// use sateen::sync::{AcquireError, Semaphore};
    /// let semaphore = Semaphore::new(1);
    /// semaphore.close();
    /// assert_eq!(semaphore.acquire(1).unwrap_err(), AcquireError::Closed);
    /// ```
    pub fn close(&self) {
        self.queue.notify_all_with(|| {
            // Ordering: Release pairs with the Acquire in `load`, for callers that see it closed.
            self.word.fetch_or(CLOSED, Ordering::Release);
        });
    }

    /// Whether [`close`](Self::close) was called.
    pub fn is_closed(&self) -> bool {
        self.load().has(CLOSED)
    }

    #[inline]
    fn load(&self) -> Word {
        // Ordering: Acquire pairs with the Release in `close`.
        Word(self.word.load(Ordering::Acquire))
    }

    /// Changes the word. Fails with the current word if that differs from `old`.
    #[inline]
    fn exchange(&self, old: Word, new: Word) -> Result<(), Word> {
        // Ordering: a taker acquires what was released by those that returned its permits, so every
        // exchange does both. Acquire on failure as in `load`.
        self.word
            .compare_exchange_weak(old.0, new.0, Ordering::AcqRel, Ordering::Acquire)
            .map(|_| ())
            .map_err(Word)
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

/// Permits of a [`Semaphore`], returned when dropped, on any thread.
#[must_use = "the permits are given back as soon as their guard is dropped"]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct SemaphoreGuard<'a> {
    semaphore: &'a Semaphore,
    n: usize,
}

impl<'a> SemaphoreGuard<'a> {
    fn new(semaphore: &'a Semaphore, n: usize) -> Self {
        Self { semaphore, n }
    }

    /// The number of permits.
    pub fn permits(&self) -> usize {
        self.n
    }

    /// Keeps the permits for good: the semaphore has that many fewer, until new ones are
    /// [added](Semaphore::add_permits).
    ///
    /// ```
    /// let semaphore = sateen::sync::Semaphore::new(1);
    /// semaphore.acquire(1).unwrap().forget();
    /// assert_eq!(semaphore.available_permits(), 0);
    /// ```
    pub fn forget(mut self) {
        self.n = 0;
    }
}

impl Drop for SemaphoreGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.n > 0 {
            // There is only no room if as many permits were added meanwhile. Then the semaphore is
            // full anyway.
            self.semaphore.put(self.n);
        }
    }
}
