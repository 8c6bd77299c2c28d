//! An event that resets itself. Protocol and proof: the crate's `README.md`, section *Auto-reset
//! event*.
//!
//! | bit | meaning | set by | cleared by |
//! |---|---|---|---|
//! | `SET` 1 | the next waiter passes | `set`, if there is no waiter | that waiter, `reset` |
//! | `WAITERS` 2 | the queue may not be empty | a waiter, under its lock | `set`, under it |

use crate::wait_queue::{CancelOutcome, Position, WaitQueue, Waiter};
use crate::waiting::{awaited, block, block_timeout};
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

const SET: u32 = 1;
const WAITERS: u32 = 2;

/// An auto-reset event: each [`set`](Self::set) lets one waiter through, the first in the queue or
/// else the next that arrives.
///
/// Several calls of `set` without a waiter let only one through. Writes before `set` are visible to
/// the waiter that it lets through. [`Event`](crate::Event) lets all waiters through.
///
/// # Cost
/// 40 bytes; one locked instruction to set it or to pass it, without waiters.
///
/// # Examples
///
/// ```
/// use sateen::sync::AutoEvent;
///
/// static TURN: AutoEvent = AutoEvent::new();
///
/// let waiter = std::thread::spawn(|| TURN.wait());
/// TURN.set();
/// waiter.join().unwrap();
/// assert!(!TURN.try_wait());
/// ```
pub struct AutoEvent {
    word: AtomicU32,
    queue: WaitQueue,
}

impl AutoEvent {
    crate::sys::const_except_loom! {
        /// Creates an event that is not set.
        pub const fn new() -> Self {
            Self { word: AtomicU32::new(0), queue: WaitQueue::new() }
        }
    }

    /// Lets one waiter through: the one that has waited longest, or else the next that arrives.
    ///
    /// # Panics
    /// If the waiter's waker panics; the waiter is let through nevertheless.
    pub fn set(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & WAITERS == 0 {
            // Ordering: Release pairs with the Acquire in `try_wait`. It applies even if the event
            // is set already, so that this setter's writes are published too.
            match self.word.compare_exchange_weak(word, SET, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => word = seen,
            }
        }
        self.set_slow();
    }

    #[cold]
    fn set_slow(&self) {
        self.queue.notify_one_then(|outcome| {
            let set = if outcome.found { 0 } else { SET };
            let waiters = if outcome.more { WAITERS } else { 0 };
            // Ordering: Release as in `set`; a queued waiter gets it through the queue's lock.
            // While `WAITERS` is set, other threads only set bits that are already set.
            self.word.swap(set | waiters, Ordering::AcqRel);
        });
    }

    /// Undoes a `set` that has not let a waiter through yet.
    pub fn reset(&self) {
        // Relaxed: it publishes nothing.
        self.word.fetch_and(!SET, Ordering::Relaxed);
    }

    /// Passes and resets the event if it is set; never waits.
    #[inline]
    pub fn try_wait(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & SET != 0 {
            // Ordering: Acquire pairs with the Release in `set`.
            match self.word.compare_exchange_weak(
                word,
                word & !SET,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Blocks the thread, or suspends the fiber, until a `set` lets the caller through.
    #[inline]
    pub fn wait(&self) {
        if !self.try_wait() {
            self.wait_slow();
        }
    }

    #[cold]
    fn wait_slow(&self) {
        block(awaited("auto-reset event", self), self.wait_async());
    }

    /// [`wait`](Self::wait) with a time limit. Returns whether it was let through.
    ///
    /// ```
    /// use std::time::Duration;
    /// let event = sateen::sync::AutoEvent::new();
    /// assert!(!event.wait_timeout(Duration::from_millis(1)));
    /// event.set();
    /// assert!(event.wait_timeout(Duration::ZERO));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        block_timeout(awaited("auto-reset event", self), timeout, self.wait_async()).is_some()
    }

    /// [`wait`](Self::wait) as a future. If it is let through but dropped before it notices, it
    /// lets the next waiter through.
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Waker}};
    /// let event = sateen::sync::AutoEvent::new();
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let mut wait = pin!(event.wait_async());
    /// assert!(wait.as_mut().poll(&mut cx).is_pending());
    /// event.set();
    /// assert!(wait.as_mut().poll(&mut cx).is_ready());
    /// ```
    pub fn wait_async(&self) -> AutoEventWait<'_> {
        AutoEventWait { event: self, waiter: Waiter::new(&self.queue) }
    }

    /// Under the queue's lock: returns true if the event was set and is passed. Otherwise the word
    /// records that a waiter is queued. Either this sees `SET`, or the setter's exchange sees
    /// `WAITERS` and takes the lock after us.
    fn pass_or_join(&self) -> bool {
        loop {
            if self.try_wait() {
                return true;
            }
            // Relaxed: the word's modification order decides which side sees the other, and the
            // lock publishes the node.
            let word = self.word.load(Ordering::Relaxed);
            if word & SET == 0
                && self
                    .word
                    .compare_exchange(word, word | WAITERS, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
            {
                return false;
            }
        }
    }
}

impl Default for AutoEvent {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for AutoEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.word.load(Ordering::Relaxed) & SET != 0;
        f.debug_struct("AutoEvent").field("set", &set).finish_non_exhaustive()
    }
}

/// The future of [`AutoEvent::wait_async`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct AutoEventWait<'a> {
    event: &'a AutoEvent,
    waiter: Waiter<'a>,
}

impl Future for AutoEventWait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let event = self.event;
        // SAFETY: the waiter is pinned with us and never moved.
        let mut waiter = unsafe { self.map_unchecked_mut(|this| &mut this.waiter) };
        if waiter.is_waiting() {
            return waiter.poll_wait(cx);
        }
        if event.try_wait() {
            return Poll::Ready(());
        }
        match waiter.as_mut().enqueue(Position::Back, cx.waker().clone(), || event.pass_or_join()) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }
}

impl Drop for AutoEventWait<'_> {
    fn drop(&mut self) {
        // SAFETY: if the waiter ever queued we are pinned; nothing moves before the end of the
        // drop.
        let waiter = unsafe { Pin::new_unchecked(&mut self.waiter) };
        if let CancelOutcome::Notified(_) = waiter.cancel() {
            self.event.set();
        }
    }
}
