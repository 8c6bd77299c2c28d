//! A condition variable, for one thread.

use super::block::{block_local, block_local_timeout};
use super::mutex::{Mutex, MutexGuard};
use super::queue::{CancelOutcome, LocalQueue, LocalWaiter};
use crate::hook::uninterrupted;
use crate::wait_queue::Permit;
use crate::waiting::awaited;
use crate::wakers::wake;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A condition variable for a [`Mutex`](super::Mutex), for the fibers and futures of one thread.
///
/// There are no spurious wake-ups. A notified waiter that is then dropped notifies the next.
///
/// ```
/// use sateen::sync::local::{Condvar, Mutex};
/// use std::time::Duration;
/// let (condvar, ready) = (Condvar::new(), Mutex::new(false));
/// let (guard, notified) = condvar.wait_timeout(ready.lock(), Duration::from_millis(1));
/// assert!(!notified && !*guard);
/// ```
pub struct Condvar {
    queue: LocalQueue,
}

impl Condvar {
    /// A condition variable without waiters.
    pub const fn new() -> Self {
        Self { queue: LocalQueue::new() }
    }

    /// Unlocks, suspends the fiber until it is notified, and relocks.
    ///
    /// # Panics
    /// If this thread runs no other fiber that could notify it.
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let mutex = MutexGuard::mutex(&guard);
        let permit = block_local(awaited("condvar", self), self.notified(guard));
        self.lock_again(mutex, Some(permit))
    }

    /// [`wait`](Self::wait) until `condition`, called under the lock, is false.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while condition(&mut guard) {
            guard = self.wait(guard);
        }
        guard
    }

    /// [`wait`](Self::wait) with a time limit. Returns whether it was notified.
    ///
    /// # Panics
    /// If this thread runs no other fiber that could unlock the mutex.
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        let mutex = MutexGuard::mutex(&guard);
        let what = awaited("condvar", self);
        let permit = block_local_timeout(what, timeout, self.notified(guard));
        (self.lock_again(mutex, permit), permit.is_some())
    }

    /// Panics if no other fiber could release the lock. The next waiter then gets the unused
    /// notification.
    fn lock_again<'a, T: ?Sized>(
        &self,
        mutex: &'a Mutex<T>,
        permit: Option<Permit>,
    ) -> MutexGuard<'a, T> {
        let pass_on = permit.map(|permit| PassOn(self, permit));
        let guard = uninterrupted(|| mutex.lock());
        std::mem::forget(pass_on);
        guard
    }

    /// [`wait`](Self::wait) as a future. It unlocks when first polled or dropped.
    pub async fn wait_async<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let mutex = MutexGuard::mutex(&guard);
        let permit = self.notified(guard).await;
        // In case this is dropped before it has the lock.
        let pass_on = PassOn(self, permit);
        let guard = mutex.lock_async().await;
        std::mem::forget(pass_on);
        guard
    }

    fn notified<'a, G>(&'a self, guard: G) -> Notified<'a, G> {
        let waiter = LocalWaiter::new(&self.queue);
        Notified { condvar: self, waiter, guard: Some(guard) }
    }

    /// Wakes the longest waiter, if there is one.
    pub fn notify_one(&self) {
        if let Some(waker) = self.queue.pop(Permit::One) {
            wake(waker);
        }
    }

    /// Wakes all present waiters.
    ///
    /// # Panics
    /// With the first panic of a waker, after all have been notified.
    pub fn notify_all(&self) {
        self.queue.notify_all();
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

/// Joins the queue, then drops the guard, then waits.
struct Notified<'a, G> {
    condvar: &'a Condvar,
    waiter: LocalWaiter<'a>,
    /// Present until it has joined.
    guard: Option<G>,
}

/// Passes an unused notification to the next waiter.
struct PassOn<'a>(&'a Condvar, Permit);

impl Drop for PassOn<'_> {
    fn drop(&mut self) {
        if self.1 == Permit::One {
            self.0.notify_one();
        }
    }
}

impl<G> Future for Notified<'_, G> {
    type Output = Permit;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit> {
        // SAFETY: the waiter is pinned with us and never moved; the guard is not pinned.
        let (mut waiter, guard) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.waiter), &mut this.guard)
        };
        if let Some(guard) = guard.take() {
            waiter.as_mut().join(0, cx.waker().clone());
            drop(guard);
        }
        waiter.poll(cx.waker())
    }
}

impl<G> Drop for Notified<'_, G> {
    fn drop(&mut self) {
        // SAFETY: if the waiter ever queued we are pinned; nothing moves before the end of the
        // drop.
        let waiter = unsafe { Pin::new_unchecked(&mut self.waiter) };
        if let CancelOutcome::Notified(permit) = waiter.cancel() {
            drop(PassOn(self.condvar, permit));
        }
    }
}
