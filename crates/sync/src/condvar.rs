//! A condition variable. Protocol and proof: the crate's `README.md`, section *Condvar*.

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

/// A condition variable: waits, with a mutex unlocked, for a notification that the value has
/// changed.
///
/// * **No spurious wake-ups,** so one notification ends one wait. The condition may have changed
///   back before the mutex is locked again: [`wait_while`](Self::wait_while) checks again.
/// * **A notification is used or passed on:** a notified waiter that is dropped, or unwinds out of
///   its wait (cancelled), notifies the next.
/// * **Relocking is not interrupted** by cancellation, and has no time limit.
/// * Notify while the mutex is locked, or afterwards: a waiter joins before it unlocks the mutex,
///   and only the mutex guarantees that the notifier sees it.
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
    /// Waiters between joining and leaving. Raised under the queue's lock.
    inside: AtomicUsize,
    /// The mutex of the current waiters. Meaningless while `inside` is 0; accessed under the
    /// queue's lock.
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

    /// Unlocks, waits for a notification, and relocks.
    ///
    /// # Panics
    /// If others wait here with a different mutex. Also if a waker run by the unlock panics; the
    /// mutex is then locked again.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_raw(MutexGuard::raw(guard), None);
    }

    /// Waits while `condition` holds for the value; it is called with the mutex locked.
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

    /// Like [`wait`](Self::wait), with a time limit of `timeout` plus the time to relock.
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

    /// Like [`wait`](Self::wait), until `deadline` plus the time to relock.
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

    /// Like [`wait_while`](Self::wait_while), for `timeout` at most. `condition` is not called
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

    /// Like [`wait_while`](Self::wait_while), until `deadline` at most. `condition` is not called
    /// again once the deadline has passed.
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

    /// The caller holds `mutex`.
    fn wait_raw(&self, mutex: &RawMutex, deadline: Option<Instant>) -> WaitTimeoutResult {
        let waker = hook::current_waker();
        let mut waiter = pin!(Waiter::new(&self.queue));
        if !waiter.as_mut().enqueue(Position::Back, waker, || !self.enter(mutex)) {
            two_mutexes();
        }
        let _inside = Inside(self);
        // Relocks in the end, whatever happens in between.
        let _relock = Relock(mutex);
        mutex.release();
        let notified = hook::waiting_for(awaited("condvar", self), || {
            // A waker run by the unlock may have blocked here and consumed our token, so check
            // first.
            waiter.as_mut().take_permit().is_some() || waiter.wait_joined(deadline)
        });
        WaitTimeoutResult(!notified)
    }

    /// Under the queue's lock: counts a waiter with this mutex. Returns false if others use a
    /// different one.
    fn enter(&self, mutex: &RawMutex) -> bool {
        let mutex = std::ptr::from_ref(mutex).addr();
        // Relaxed: a notifier sees the count through the mutex, which this waiter has not unlocked
        // yet.
        if self.inside.load(Ordering::Relaxed) == 0 {
            self.mutex.store(mutex, Ordering::Relaxed);
        } else if self.mutex.load(Ordering::Relaxed) != mutex {
            return false;
        }
        self.inside.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Notifies the longest waiter. Returns whether there was one.
    ///
    /// # Panics
    /// If its waker does; it is notified nevertheless.
    #[inline]
    pub fn notify_one(&self) -> bool {
        self.has_waiters() && self.queue.notify_one()
    }

    /// Notifies all waiters. Returns how many there were.
    ///
    /// # Panics
    /// With the first panic of a waker, after all were notified.
    #[inline]
    pub fn notify_all(&self) -> usize {
        if self.has_waiters() { self.queue.notify_all() } else { 0 }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        // Relaxed: see `enter`.
        self.inside.load(Ordering::Relaxed) != 0
    }

    /// [`wait`](Self::wait) as a future, which takes the guard and returns a new one. It unlocks
    /// when first polled. If dropped early, it leaves the mutex unlocked, and passes on a
    /// notification that it received. (If it was never polled, dropping the guard unlocks the
    /// mutex.)
    ///
    /// A poll panics as [`wait`](Self::wait) does. (With a time limit:
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
        // Relaxed: a count that is too high costs a check of the queue.
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
    /// Whether the time ran out; otherwise it was notified.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// The future of [`Condvar::wait_async`].
#[must_use = "futures do nothing unless polled"]
pub struct CondvarWait<'a, T: ?Sized> {
    condvar: &'a Condvar,
    mutex: &'a Mutex<T>,
    /// Present until the first poll.
    guard: Option<MutexGuard<'a, T>>,
    waiter: Waiter<'a>,
    inside: Option<Inside<'a>>,
    /// A notification taken and not yet used, until the mutex is relocked.
    permit: Option<Permit>,
    /// Present from the notification until ready.
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
