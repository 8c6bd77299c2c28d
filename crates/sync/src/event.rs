//! A flag that can be waited for. Protocol and proof: the crate's `README.md`, section *Event*.
//!
//! | bit | meaning | set by | cleared by |
//! |---|---|---|---|
//! | `SET` 1 | waiting returns at once | `set` | `reset` |
//! | `WAITERS` 2 | the queue may hold some | a waiter, under its lock | `set`, if it holds none |

use crate::hook::waiting_for;
use crate::wait_queue::{Position, WaitQueue, Waiter};
use crate::waiting::{awaited, block_timeout};
use sateen_base::acquire_fence;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::time::{Duration, Instant};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

const SET: u32 = 1;
const WAITERS: u32 = 2;

/// A manual-reset event: callers wait until it is set, and pass from then on until it is reset.
///
/// [`set`](Self::set) releases exactly the callers that wait at that moment, even if
/// [`reset`](Self::reset) follows before they run. Writes before `set` are visible after the wait
/// that it ended.
///
/// # Cost
/// 40 bytes; one load to wait for an event that is set, one locked instruction to set an event
/// without waiters.
///
/// # Examples
///
/// ```
/// use sateen::sync::Event;
///
/// static READY: Event = Event::new();
///
/// let waiter = std::thread::spawn(|| READY.wait());
/// READY.set();
/// waiter.join().unwrap();
/// assert!(READY.is_set());
/// ```
pub struct Event {
    word: AtomicU32,
    queue: WaitQueue,
}

impl Event {
    crate::sys::const_except_loom! {
        /// An event that is not set.
        pub const fn new() -> Self {
            Self { word: AtomicU32::new(0), queue: WaitQueue::new() }
        }
    }

    /// Whether it is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `set`.
        self.word.load(Ordering::Acquire) & SET != 0
    }

    /// Sets the event and releases all waiters; does nothing if it is already set.
    ///
    /// # Panics
    /// With the first panic of a waker, after all waiters have been released.
    pub fn set(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & WAITERS == 0 {
            // This also runs if the event is already set, so that this setter's earlier writes are
            // published too.
            // Ordering: Release pairs with the Acquire in `is_set` and `set_or_join`.
            match self.word.compare_exchange_weak(word, SET, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => word = seen,
            }
        }
        self.set_slow();
    }

    /// Under the queue's lock. Setting the event separates the waiters that are released from later
    /// ones, which may find it reset.
    #[cold]
    fn set_slow(&self) {
        self.queue.notify_all_among(|waiters| {
            // Keep `WAITERS` set while there are waiters: the next one then needs no exchange.
            let new = if waiters { SET | WAITERS } else { SET };
            // A store suffices: while `WAITERS` is set, others only reset, and that may as well
            // come before. Ordering: Release as in `set`. Queued waiters get it through the queue's
            // lock.
            self.word.store(new, Ordering::Release);
            true
        });
    }

    /// Makes later callers wait.
    pub fn reset(&self) {
        // Relaxed: it publishes nothing. It keeps `WAITERS`, because a waiter may have just joined.
        self.word.fetch_and(!SET, Ordering::Relaxed);
    }

    /// Blocks the thread, or suspends the fiber, until the event is set. Returns at once if it is.
    #[inline]
    pub fn wait(&self) {
        if !self.is_set() {
            self.wait_slow();
        }
    }

    #[cold]
    fn wait_slow(&self) {
        waiting_for(awaited("event", self), || self.queue.wait_unless(|| self.set_or_join()));
    }

    /// [`wait`](Self::wait) with a time limit. Returns whether the event was set in time.
    ///
    /// ```
    /// use std::time::Duration;
    /// let event = sateen::sync::Event::new();
    /// assert!(!event.wait_timeout(Duration::from_millis(1)));
    /// event.set();
    /// assert!(event.wait_timeout(Duration::ZERO));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        block_timeout(awaited("event", self), timeout, self.wait_async()).is_some()
    }

    /// [`wait`](Self::wait) until `deadline` at most. Returns whether the event was set in time.
    pub fn wait_until(&self, deadline: Instant) -> bool {
        self.is_set()
            || waiting_for(awaited("event", self), || {
                self.queue.wait_unless_until(deadline, || self.set_or_join())
            })
    }

    /// [`wait`](Self::wait) as a future, which may be dropped at any time.
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Waker}};
    /// let event = sateen::sync::Event::new();
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let mut wait = pin!(event.wait_async());
    /// assert!(wait.as_mut().poll(&mut cx).is_pending());
    /// event.set();
    /// assert!(wait.as_mut().poll(&mut cx).is_ready());
    /// ```
    pub fn wait_async(&self) -> EventWait<'_> {
        EventWait { event: self, waiter: Waiter::new(&self.queue), joined: false }
    }

    /// Under the queue's lock: returns true if the event is set. Otherwise the word records that a
    /// waiter is queued.
    ///
    /// Either this sees `SET`, or the setter's exchange sees `WAITERS` and takes the queue's lock
    /// after us.
    fn set_or_join(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & SET == 0 {
            if word & WAITERS != 0 {
                // Only a setter under the lock can clear it, or set the event meanwhile.
                return false;
            }
            let new = word | WAITERS;
            // Relaxed: the word's modification order decides which side sees the other, and the
            // queue's lock publishes the node.
            match self.word.compare_exchange_weak(word, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return false,
                Err(seen) => word = seen,
            }
        }
        // Ordering: Acquire pairs with the Release in `set`, even if `SET` is gone again by now.
        acquire_fence!(self.word);
        true
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
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct EventWait<'a> {
    event: &'a Event,
    waiter: Waiter<'a>,
    joined: bool,
}

impl Future for EventWait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: `waiter` is pinned with us and never moved; the others are plain values.
        let (event, waiter, joined) = unsafe {
            let this = self.get_unchecked_mut();
            (this.event, Pin::new_unchecked(&mut this.waiter), &mut this.joined)
        };
        if *joined {
            return waiter.poll_wait(cx);
        }
        if event.is_set() {
            return Poll::Ready(());
        }
        *joined = waiter.enqueue(Position::Back, cx.waker().clone(), || event.set_or_join());
        if *joined { Poll::Pending } else { Poll::Ready(()) }
    }
}
