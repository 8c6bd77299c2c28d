//! A flag to wait for, for one thread.

use super::block::{block_local, block_local_timeout};
use super::queue::{LocalQueue, LocalWaiter};
use crate::waiting::awaited;
use sateen_base::prim::time::Duration;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A manual-reset event for the fibers and futures of one thread: callers wait until it is set, and
/// pass from then on until it is reset.
///
/// [`set`](Self::set) releases all that wait at that moment, even if [`reset`](Self::reset) follows
/// before they run.
///
/// ```
/// use sateen::sync::local::Event;
/// let event = Event::new();
/// event.set();
/// event.wait();
/// ```
pub struct Event {
    set: Cell<bool>,
    queue: LocalQueue,
}

impl Event {
    /// An event that is not set.
    pub const fn new() -> Self {
        Self { set: Cell::new(false), queue: LocalQueue::new() }
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.set.get()
    }

    /// Sets it and releases all that wait.
    ///
    /// # Panics
    /// With the first panic of a waker, after all have been released.
    pub fn set(&self) {
        self.set.set(true);
        self.queue.notify_all();
    }

    /// Makes later callers wait.
    pub fn reset(&self) {
        self.set.set(false);
    }

    /// Suspends the fiber until it is set.
    ///
    /// # Panics
    /// If this thread runs no other fiber that could set it.
    pub fn wait(&self) {
        if !self.is_set() {
            block_local(awaited("event", self), self.wait_async());
        }
    }

    /// [`wait`](Self::wait) with a time limit. Returns whether the event was set.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        block_local_timeout(awaited("event", self), timeout, self.wait_async()).is_some()
    }

    /// [`wait`](Self::wait) as a future.
    pub fn wait_async(&self) -> EventWait<'_> {
        EventWait { event: self, waiter: LocalWaiter::new(&self.queue) }
    }
}

impl Default for Event {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("set", &self.is_set()).finish_non_exhaustive()
    }
}

/// The future of [`Event::wait_async`].
#[must_use = "futures do nothing unless polled"]
pub struct EventWait<'a> {
    event: &'a Event,
    waiter: LocalWaiter<'a>,
}

impl Future for EventWait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let event = self.event;
        // SAFETY: the waiter is pinned with us and never moved.
        let mut waiter = unsafe { self.map_unchecked_mut(|this| &mut this.waiter) };
        if waiter.is_waiting() {
            return waiter.poll(cx.waker()).map(|_| ());
        }
        // Cloned first: cloning may run any code.
        let waker = cx.waker().clone();
        if event.is_set() {
            return Poll::Ready(());
        }
        waiter.as_mut().join(0, waker);
        Poll::Pending
    }
}

impl fmt::Debug for EventWait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventWait").finish_non_exhaustive()
    }
}
