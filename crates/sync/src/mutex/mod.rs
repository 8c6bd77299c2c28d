//! Mutual exclusion for threads, fibers and futures.

mod acquire;
mod guard;
mod raw;

pub(crate) use acquire::Acquire;
pub(crate) use guard::Relock;
pub use guard::{MappedMutexGuard, MutexGuard};
pub(crate) use raw::BARGE_LIMIT;
pub use raw::RawMutex;

use sateen_base::prim::UnsafeCell;
use sateen_base::prim::time::{Duration, Instant};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A mutex. [`lock`](Self::lock) blocks a thread or suspends a fiber,
/// [`lock_async`](Self::lock_async) waits in a future; all wait in one queue.
///
/// * **Eventually fair.** A running locker may barge ahead of waiters: handing the lock to a
///   sleeper would leave it idle during the wake-up. A waiter that has lost sixteen races bars
///   newcomers, except [`try_lock`](Self::try_lock), so nobody waits for ever. On a
///   [`fair`](Self::fair) mutex no waiter is ever overtaken;
///   [`unlock_fair`](MutexGuard::unlock_fair) ensures that once.
/// * **No poisoning.** A panic under the lock unlocks it; the value is as the panic left it.
///   [`poison::Mutex`](crate::poison::Mutex) poisons.
/// * **Guards are `Send`** if the value is: a future may hold one across an await and resume on
///   another thread.
/// * A holder that locks again waits for ever; a [`ReentrantMutex`](crate::ReentrantMutex) allows
///   it.
/// * An unlock wakes at most one waiter, and calls its waker when the lock is free again. A panic
///   of that waker propagates out of the unlock; the lock stays usable.
///
/// Names, guards and arguments are those of `lock_api` and `parking_lot`.
///
/// # Cost
/// 48 bytes and the value. Uncontended, one locked instruction to lock and one to unlock. A thread
/// that finds the mutex locked pauses for some 200 ns, yields its time slice up to sixteen times,
/// then queues.
///
/// # Examples
///
/// ```
/// use sateen::sync::Mutex;
///
/// static TOTAL: Mutex<u64> = Mutex::new(0);
///
/// std::thread::scope(|s| {
///     for n in 0..4 {
///         s.spawn(move || *TOTAL.lock() += n);
///     }
/// });
/// assert_eq!(*TOTAL.lock(), 6);
/// ```
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    raw: RawMutex,
    value: UnsafeCell<T>,
}

// SAFETY: the value goes where the mutex goes.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: the lock gives the value to one thread at a time, which amounts to sending it there.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    crate::sys::const_except_loom! {
        /// An unlocked mutex holding `value`.
        pub const fn new(value: T) -> Self {
            Self { raw: RawMutex::new(), value: UnsafeCell::new(value) }
        }
    }

    crate::sys::const_except_loom! {
        /// An unlocked mutex that lockers acquire in order of arrival. An unlock reserves the lock
        /// for the first waiter. Newcomers, including `try_lock`, find it taken until that waiter
        /// arrives. (The lock is not handed over, only kept free.)
        ///
        /// # Cost
        /// Under contention, each turn costs a wake-up: for a few threads with short sections this
        /// is slower by an order of magnitude. Uncontended, locking costs the same, and unlocking
        /// costs one more call.
        ///
        /// ```
        /// let mutex = sateen::sync::Mutex::fair(1);
        /// *mutex.lock() += 1;
        /// assert_eq!(mutex.into_inner(), 2);
        /// ```
        pub const fn fair(value: T) -> Self {
            Self { raw: RawMutex::fair(), value: UnsafeCell::new(value) }
        }
    }

    /// Returns the value. See [`get_mut`](Self::get_mut).
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Acquires the lock. While another holds it, a thread blocks and a fiber suspends.
    ///
    /// See [`Mutex`] for an example.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.raw.acquire();
        MutexGuard::new(self)
    }

    /// Acquires the lock if it is free; never waits.
    ///
    /// ```
    /// let mutex = sateen::sync::Mutex::new(1);
    /// let guard = mutex.try_lock().expect("free");
    /// assert!(mutex.try_lock().is_none());
    /// # drop(guard);
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.raw.try_acquire().then(|| MutexGuard::new(self))
    }

    /// Like [`lock`](Self::lock), but gives up after `timeout`. (As a future:
    /// [`timeout_async`](crate::timer::timeout_async).)
    ///
    /// ```
    /// let mutex = sateen::sync::Mutex::new(1);
    /// let guard = mutex.try_lock_for(std::time::Duration::ZERO).expect("free");
    /// assert!(mutex.try_lock_for(std::time::Duration::from_millis(1)).is_none());
    /// # drop(guard);
    /// ```
    pub fn try_lock_for(&self, timeout: Duration) -> Option<MutexGuard<'_, T>> {
        self.try_lock_until_opt(|| Instant::now().checked_add(timeout))
    }

    /// Like [`lock`](Self::lock), but gives up at `deadline`.
    pub fn try_lock_until(&self, deadline: Instant) -> Option<MutexGuard<'_, T>> {
        self.try_lock_until_opt(|| Some(deadline))
    }

    /// Reads the clock only if the lock is taken.
    fn try_lock_until_opt(
        &self,
        deadline: impl FnOnce() -> Option<Instant>,
    ) -> Option<MutexGuard<'_, T>> {
        let taken = self.raw.try_acquire() || self.raw.acquire_until(deadline());
        taken.then(|| MutexGuard::new(self))
    }

    /// A future of the guard. If it is dropped early it leaves the queue. If it had already been
    /// woken, the next waiter is woken instead.
    ///
    /// Poll or drop it soon after it was woken: no other waiter is woken before.
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Waker}};
    /// let mutex = sateen::sync::Mutex::new(1);
    /// let guard = mutex.lock();
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let mut lock = pin!(mutex.lock_async());
    /// assert!(lock.as_mut().poll(&mut cx).is_pending());
    /// drop(guard);
    /// assert!(lock.as_mut().poll(&mut cx).is_ready());
    /// ```
    pub fn lock_async(&self) -> Lock<'_, T> {
        Lock { mutex: self, acquire: Acquire::new(&self.raw, false) }
    }

    /// Whether the lock is held at some moment, for reports and not for decisions.
    pub fn is_locked(&self) -> bool {
        self.raw.is_held()
    }

    /// Unlocks a mutex whose guard was forgotten.
    ///
    /// # Safety
    /// The mutex is locked, and no guard of it will be used or dropped.
    pub unsafe fn force_unlock(&self) {
        self.raw.release();
    }

    /// The address of the value, for code that holds the lock.
    pub fn data_ptr(&self) -> *mut T {
        self.value.with_mut(|value| value)
    }

    /// The value, without locking: the exclusive borrow proves that the lock is free.
    ///
    /// ```
    /// let mut mutex = sateen::sync::Mutex::new(1);
    /// *mutex.get_mut() += 1;
    /// assert_eq!(mutex.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: the exclusive borrow of the mutex covers the value for as long as the result
        // lives.
        self.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
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

/// The future of [`Mutex::lock_async`].
#[must_use = "futures do nothing unless polled"]
pub struct Lock<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    acquire: Acquire<'a>,
}

impl<'a, T: ?Sized> Future for Lock<'a, T> {
    type Output = MutexGuard<'a, T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<MutexGuard<'a, T>> {
        let mutex = self.mutex;
        // SAFETY: `acquire` is pinned with us and never moved.
        let acquire = unsafe { self.map_unchecked_mut(|this| &mut this.acquire) };
        acquire.poll(cx).map(|()| MutexGuard::new(mutex))
    }
}

impl<T: ?Sized> fmt::Debug for Lock<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}
