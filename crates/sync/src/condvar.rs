//! Waiting for a condition of a value under a mutex. Protocol and proof: the crate's `README.md`,
//! section *Condvar*.

use crate::hook;
use crate::mutex::{Lock, Mutex, MutexGuard, RawMutex, Relock};
use crate::wait_queue::{Permit, Position, WaitQueue, Waiter};
use crate::waiting::awaited;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{AtomicUsize, Ordering};
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// A condition variable: waits, with a mutex unlocked, until a notification says that the value has
/// changed.
///
/// * **It never wakes without a notification,** so one notification ends one wait. The condition
///   may have changed back before the mutex is locked again: [`wait_while`](Self::wait_while) looks
///   again.
/// * **A notification is used or passed on:** a waiter that was notified and is dropped, or unwinds
///   out of its wait (cancelled), notifies the next.
/// * **Locking again is not interrupted** by cancellation, and not timed.
/// * Notify while the mutex is locked, or afterwards: a waiter joins before it unlocks the mutex,
///   and only that makes it visible for certain.
///
/// Names and arguments are those of `parking_lot`.
///
/// # Cost
/// 48 bytes. A notification without waiters is one relaxed load.
///
/// # Examples
///
/// ```
/// use sateen::sync::{Condvar, Mutex};
///
/// static READY: Mutex<bool> = Mutex::new(false);
/// static CHANGED: Condvar = Condvar::new();
///
/// let setter = std::thread::spawn(|| {
///     *READY.lock() = true;
///     CHANGED.notify_one();
/// });
/// let mut ready = READY.lock();
/// CHANGED.wait_while(&mut ready, |ready| !*ready);
/// assert!(*ready);
/// # drop(ready);
/// # setter.join().unwrap();
/// ```
pub struct Condvar {
    /// How many are between joining and leaving. Raised under the queue's lock.
    inside: AtomicUsize,
    /// The mutex that the waiters use. It means nothing while `inside` is 0, and is accessed under
    /// the queue's lock.
    mutex: AtomicUsize,
    queue: WaitQueue,
}

impl Condvar {
    crate::sys::const_except_loom! {
        /// A condition variable without waiters.
        pub const fn new() -> Self {
            Self {
                inside: AtomicUsize::new(0),
                mutex: AtomicUsize::new(0),
                queue: WaitQueue::new(),
            }
        }
    }

    /// Unlocks, waits for a notification, and locks again.
    ///
    /// # Panics
    /// If others wait here with another mutex. If a waker run by the unlock does; it is locked
    /// again then.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_raw(MutexGuard::raw(guard), None);
    }

    /// Waits as long as `condition` holds for the value; it runs with the mutex locked.
    ///
    /// # Panics
    /// As [`wait`](Self::wait), or if `condition` does.
    pub fn wait_while<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(guard) {
            self.wait(guard);
        }
    }

    /// As [`wait`](Self::wait), but for no longer than `timeout` and the time to lock again.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mutex, condvar) = (sateen::sync::Mutex::new(()), sateen::sync::Condvar::new());
    /// let result = condvar.wait_for(&mut mutex.lock(), std::time::Duration::from_millis(1));
    /// assert!(result.timed_out());
    /// ```
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        self.wait_raw(MutexGuard::raw(guard), Instant::now().checked_add(timeout))
    }

    /// As [`wait`](Self::wait), but no longer than until `deadline` and the time to lock again.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.wait_raw(MutexGuard::raw(guard), Some(deadline))
    }

    /// As [`wait_while`](Self::wait_while), for no longer than `timeout`. `condition` is not called
    /// again once the time has passed.
    ///
    /// # Panics
    /// As [`wait_while`](Self::wait_while).
    pub fn wait_while_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: impl FnMut(&mut T) -> bool,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        self.wait_while_raw(guard, condition, Instant::now().checked_add(timeout))
    }

    /// As [`wait_while`](Self::wait_while), no longer than until `deadline`. `condition` is not
    /// called again once the deadline has passed.
    ///
    /// # Panics
    /// As [`wait_while`](Self::wait_while).
    pub fn wait_while_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: impl FnMut(&mut T) -> bool,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        self.wait_while_raw(guard, condition, Some(deadline))
    }

    fn wait_while_raw<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
        deadline: Option<Instant>,
    ) -> WaitTimeoutResult {
        let mut result = WaitTimeoutResult(false);
        while !result.timed_out() && condition(guard) {
            result = self.wait_raw(MutexGuard::raw(guard), deadline);
        }
        result
    }

    /// `mutex` is locked by the caller.
    fn wait_raw(&self, mutex: &RawMutex, deadline: Option<Instant>) -> WaitTimeoutResult {
        let waker = hook::current_waker();
        let mut waiter = pin!(Waiter::new(&self.queue));
        if !waiter.as_mut().enqueue(Position::Back, waker, || !self.enter(mutex)) {
            two_mutexes();
        }
        let _inside = Inside(self);
        // Locks again in the end, whatever happens in between.
        let _relock = Relock(mutex);
        mutex.release();
        let notified = hook::waiting_for(awaited("condvar", self), || {
            // A waker that ran in the unlock may have blocked here, and taken our token: first
            // look.
            waiter.as_mut().take_permit().is_some() || waiter.wait_joined(deadline)
        });
        WaitTimeoutResult(!notified)
    }

    /// Under the queue's lock: counts a waiter with this mutex; false if others use another one.
    fn enter(&self, mutex: &RawMutex) -> bool {
        let mutex = std::ptr::from_ref(mutex).addr();
        // Relaxed: a notifier sees the count through the mutex, which this waiter has yet to
        // unlock.
        if self.inside.load(Ordering::Relaxed) == 0 {
            self.mutex.store(mutex, Ordering::Relaxed);
        } else if self.mutex.load(Ordering::Relaxed) != mutex {
            return false;
        }
        self.inside.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Ends the wait of the one that waits longest; whether there was one.
    ///
    /// # Panics
    /// If its waker does; it is notified nevertheless.
    #[inline]
    pub fn notify_one(&self) -> bool {
        self.has_waiters() && self.queue.notify_one()
    }

    /// Ends all waits; how many.
    ///
    /// # Panics
    /// With the first panic of a waker, when all are notified.
    #[inline]
    pub fn notify_all(&self) -> usize {
        if self.has_waiters() { self.queue.notify_all() } else { 0 }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        // Relaxed: see `enter`.
        self.inside.load(Ordering::Relaxed) != 0
    }

    /// [`wait`](Self::wait) as a future, which takes the guard and gives a new one. It unlocks when
    /// it is first polled. Dropped early it leaves the mutex unlocked (locked, if it was never
    /// polled: the guard is dropped with it), and passes on a notification that it was given.
    ///
    /// A poll panics as [`wait`](Self::wait) does. (Timed:
    /// [`timeout_async`](crate::timer::timeout_async).)
    ///
    /// ```
    /// # use sateen::sync::{Condvar, Mutex, block_on};
    /// let (ready, changed) = (Mutex::new(false), Condvar::new());
    /// std::thread::scope(|s| {
    ///     s.spawn(|| {
    ///         *ready.lock() = true;
    ///         changed.notify_one();
    ///     });
    ///     block_on(async {
    ///         let mut guard = ready.lock_async().await;
    ///         while !*guard {
    ///             guard = changed.wait_async(guard).await;
    ///         }
    ///     });
    /// });
    /// ```
    pub fn wait_async<'a, T: ?Sized>(&'a self, guard: MutexGuard<'a, T>) -> CondvarWait<'a, T> {
        CondvarWait {
            condvar: self,
            mutex: MutexGuard::mutex(&guard),
            guard: Some(guard),
            waiter: Waiter::new(&self.queue),
            inside: None,
            permit: None,
            lock: None,
        }
    }
}

#[cold]
fn two_mutexes() -> ! {
    panic!("a Condvar is waited for with two different mutexes at once")
}

/// Counted in `inside`.
struct Inside<'a>(&'a Condvar);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // Relaxed: too high a count costs a look at the queue.
        self.0.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

/// How a timed wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// The time was over; otherwise it was notified.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// The future of [`Condvar::wait_async`].
#[must_use = "futures do nothing unless polled"]
pub struct CondvarWait<'a, T: ?Sized> {
    condvar: &'a Condvar,
    mutex: &'a Mutex<T>,
    /// Until the first poll.
    guard: Option<MutexGuard<'a, T>>,
    waiter: Waiter<'a>,
    inside: Option<Inside<'a>>,
    /// Taken, and not yet used: until the mutex is locked again.
    permit: Option<Permit>,
    /// From being notified to being ready.
    lock: Option<Lock<'a, T>>,
}

impl<'a, T: ?Sized> Future for CondvarWait<'a, T> {
    type Output = MutexGuard<'a, T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `waiter` and `lock` are pinned with us, and nothing moves them; the others are
        // plain.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let mut waiter = unsafe { Pin::new_unchecked(&mut this.waiter) };
        if let Some(guard) = this.guard.take() {
            let (condvar, raw) = (this.condvar, MutexGuard::raw(&guard));
            if !waiter.as_mut().enqueue(Position::Back, cx.waker().clone(), || !condvar.enter(raw))
            {
                two_mutexes();
            }
            this.inside = Some(Inside(condvar));
            drop(guard);
        }
        // SAFETY: as above.
        let mut lock = unsafe { Pin::new_unchecked(&mut this.lock) };
        if lock.is_none() {
            let Poll::Ready(permit) = waiter.poll_permit(cx) else { return Poll::Pending };
            this.permit = permit;
            this.inside = None;
            lock.set(Some(this.mutex.lock_async()));
        }
        let Some(locking) = lock.as_mut().as_pin_mut() else { return Poll::Pending };
        let guard = std::task::ready!(locking.poll(cx));
        this.permit = None;
        Poll::Ready(guard)
    }
}

impl<T: ?Sized> Drop for CondvarWait<'_, T> {
    fn drop(&mut self) {
        if self.permit == Some(Permit::One) {
            self.condvar.queue.notify_one();
        }
    }
}

impl<T: ?Sized> fmt::Debug for CondvarWait<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CondvarWait").finish_non_exhaustive()
    }
}
