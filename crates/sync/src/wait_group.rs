//! Waiting until all have finished. Protocol and proof: the crate's `README.md`, section *Wait counter*.
//!
//! | bits | meaning | changed by |
//! |---|---|---|
//! | 0 `WAITERS` | the queue may not be empty | a waiter that joins sets it, the last `done` clears it, both under the queue's lock |
//! | 1..64 | how many have not finished | `add`, `done` |

use crate::wait_queue::{Position, WaitQueue, Waiter};
use crate::waiting::{awaited, block, block_timeout};
use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU64;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

const WAITERS: u64 = 1;
const ONE: u64 = 2;

/// A count of what is still to be finished, and waiting until it is 0: Go's `WaitGroup`.
///
/// [`add`](Self::add) comes before the waiting. Those who wait when the count falls to 0 are released,
/// even if it rises again before they run. It can be used again. What happened before each
/// [`done`](Self::done) is visible after the wait. For handles that count themselves see [`WaitGroup`].
///
/// Cost: 40 bytes; one locked instruction for `add` and `done`, the last `done` also a spinlock if
/// somebody waits.
///
/// ```
/// use sateen::sync::WaitCounter;
///
/// static RUNNING: WaitCounter = WaitCounter::new(0);
///
/// RUNNING.add(2);
/// for _ in 0..2 {
///     std::thread::spawn(|| RUNNING.done());
/// }
/// RUNNING.wait();
/// ```
pub struct WaitCounter {
    word: AtomicU64,
    queue: WaitQueue,
}

impl WaitCounter {
    crate::sys::const_except_loom! {
        /// A count of `n`.
        ///
        /// # Panics
        /// If `n` is 2^63 or more.
        pub const fn new(n: usize) -> Self {
            assert!((n as u64) <= u64::MAX / ONE, "a wait counter counts to 2^63 - 1");
            Self { word: AtomicU64::new(n as u64 * ONE), queue: WaitQueue::new() }
        }
    }

    /// How many have not finished, at some moment.
    pub fn count(&self) -> usize {
        // Ordering: Acquire pairs with the Release in `done`.
        (self.word.load(Ordering::Acquire) / ONE) as usize
    }

    /// Counts `n` more.
    ///
    /// # Panics
    /// If the count would pass 2^63 - 1; it is not changed.
    pub fn add(&self, n: usize) {
        let more = |word: u64| (n as u64).checked_mul(ONE)?.checked_add(word);
        // Relaxed: it publishes nothing; a `done` that follows is ordered by the word.
        let added = self.update(Ordering::Relaxed, more);
        assert!(added.is_ok(), "a wait counter counts to 2^63 - 1");
    }

    /// One has finished. The last one releases all who wait.
    ///
    /// # Panics
    /// If the count is 0. The last one, with the first panic of a waker, after all were released.
    pub fn done(&self) {
        assert!(self.try_done(), "`done` called more often than was added");
    }

    /// False, changing nothing, if the count is 0.
    fn try_done(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word >= ONE {
            if word == ONE | WAITERS {
                return self.done_slow();
            }
            let order = if canary!("wait_counter_done_relaxed") {
                Ordering::Relaxed
            } else {
                Ordering::Release
            };
            // Ordering: Release pairs with the Acquire in `count`, `is_zero_or_join` and `done_slow`.
            match self.word.compare_exchange_weak(word, word - ONE, order, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Under the queue's lock, so that exactly those are released who waited when it became 0.
    #[cold]
    fn done_slow(&self) -> bool {
        let mut done = false;
        self.queue.notify_all_if(|| {
            let last = |word: u64| {
                let left = word.checked_sub(ONE)?;
                Some(if left < ONE { 0 } else { left })
            };
            // Ordering: Release as in `done`; Acquire takes up what the others published, for those
            // who wait and get it through the queue's lock.
            match self.update(Ordering::AcqRel, last) {
                Ok(before) => {
                    done = true;
                    before < 2 * ONE
                }
                Err(_) => false,
            }
        });
        done
    }

    /// Exchanges the word for what `f` makes of it, with `order`; the word as it was. If `f` makes
    /// nothing of it: the word that was seen, as an error.
    fn update(&self, order: Ordering, f: impl Fn(u64) -> Option<u64>) -> Result<u64, u64> {
        // Ordering: Acquire, for what `is_zero_or_join` sees, pairs with the Release in `done`.
        let mut word = self.word.load(Ordering::Acquire);
        while let Some(new) = f(word) {
            match self.word.compare_exchange_weak(word, new, order, Ordering::Acquire) {
                Ok(_) => return Ok(word),
                Err(seen) => word = seen,
            }
        }
        Err(word)
    }

    /// Blocks the thread, or suspends the fiber, until the count is 0; at once if it is.
    pub fn wait(&self) {
        if self.count() != 0 {
            block(awaited("wait counter", self), self.wait_async());
        }
    }

    /// [`wait`](Self::wait) with a limit; whether the count was 0 in time.
    ///
    /// ```
    /// use std::time::Duration;
    /// let counter = sateen::sync::WaitCounter::new(1);
    /// assert!(!counter.wait_timeout(Duration::from_millis(1)));
    /// counter.done();
    /// assert!(counter.wait_timeout(Duration::ZERO));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        block_timeout(awaited("wait counter", self), timeout, self.wait_async()).is_some()
    }

    /// [`wait`](Self::wait) as a future, which may be dropped at any time.
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Waker}};
    /// let counter = sateen::sync::WaitCounter::new(1);
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let mut wait = pin!(counter.wait_async());
    /// assert!(wait.as_mut().poll(&mut cx).is_pending());
    /// counter.done();
    /// assert!(wait.as_mut().poll(&mut cx).is_ready());
    /// ```
    pub fn wait_async(&self) -> CounterWait<'_> {
        CounterWait { counter: self, waiter: Waiter::new(&self.queue) }
    }

    /// Under the queue's lock: true if it is 0, otherwise the word says that somebody waits.
    fn is_zero_or_join(&self) -> bool {
        let waiters = if canary!("wait_counter_waiters_bit_missing") { 0 } else { WAITERS };
        let join = |word: u64| (word >= ONE).then_some(word | waiters);
        // Relaxed: the word's own order of changes decides who sees whom.
        self.update(Ordering::Relaxed, join).is_err()
    }
}

impl fmt::Debug for WaitCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitCounter").field("count", &self.count()).finish_non_exhaustive()
    }
}

/// The future of [`WaitCounter::wait_async`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct CounterWait<'a> {
    counter: &'a WaitCounter,
    waiter: Waiter<'a>,
}

impl Future for CounterWait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let counter = self.counter;
        // SAFETY: the waiter is pinned with us and never moved.
        let mut waiter = unsafe { self.map_unchecked_mut(|this| &mut this.waiter) };
        if waiter.is_waiting() {
            return waiter.poll_wait(cx);
        }
        let ready = || counter.is_zero_or_join();
        match waiter.as_mut().enqueue(Position::Back, cx.waker().clone(), ready) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }
}

/// Handles that count themselves: waits until all clones are dropped.
///
/// Each clone stands for one that has not finished. [`wait`](Self::wait) gives its own up first. Work that
/// has no handle is counted with [`add`](Self::add) and [`done`](Self::done).
///
/// Cost: one allocation for a group; otherwise as [`WaitCounter`].
///
/// ```
/// use sateen::sync::WaitGroup;
///
/// let group = WaitGroup::new();
/// for _ in 0..3 {
///     let group = group.clone();
///     std::thread::spawn(move || {
///         // ... work ...
///         drop(group);
///     });
/// }
/// group.wait();
/// ```
#[derive(Debug)]
pub struct WaitGroup {
    counter: Arc<WaitCounter>,
}

impl WaitGroup {
    /// A group of one: the handle returned.
    pub fn new() -> Self {
        Self { counter: Arc::new(WaitCounter::new(1)) }
    }

    /// Counts `n` more.
    ///
    /// # Panics
    /// As [`WaitCounter::add`].
    pub fn add(&self, n: usize) {
        self.counter.add(n);
    }

    /// One of those that were [added](Self::add) has finished. More calls than were added end the
    /// waiting too early, and panic once nothing is left.
    ///
    /// # Panics
    /// As [`WaitCounter::done`].
    pub fn done(&self) {
        self.counter.done();
    }

    /// Gives this handle up, and blocks the thread, or suspends the fiber, until no other is left.
    pub fn wait(self) {
        self.leave().wait();
    }

    /// [`wait`](Self::wait) with a limit; whether all had finished in time. The handle is given up
    /// either way.
    ///
    /// ```
    /// use std::time::Duration;
    /// let group = sateen::sync::WaitGroup::new();
    /// let other = group.clone();
    /// assert!(!group.wait_timeout(Duration::from_millis(1)));
    /// assert!(other.wait_timeout(Duration::ZERO));
    /// ```
    pub fn wait_timeout(self, timeout: Duration) -> bool {
        self.leave().wait_timeout(timeout)
    }

    /// [`wait`](Self::wait) as a future. The handle is given up when it is first polled or dropped.
    pub async fn wait_async(self) {
        self.leave().wait_async().await;
    }

    fn leave(self) -> Arc<WaitCounter> {
        self.counter.clone()
    }
}

impl Default for WaitGroup {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for WaitGroup {
    /// One more that has not finished.
    fn clone(&self) -> Self {
        self.counter.add(1);
        Self { counter: self.counter.clone() }
    }
}

impl Drop for WaitGroup {
    fn drop(&mut self) {
        // There is nothing to count down only after too many `done`.
        self.counter.try_done();
    }
}
