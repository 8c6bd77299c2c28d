//! A wait group. Protocol and proof: the crate's `README.md`, section *Wait group*.
//!
//! | bits | meaning | changed by |
//! |---|---|---|
//! | 0 `WAITERS` | the queue may not be empty | under its lock: a waiter, the last `done` |
//! | 1..64 | how many have not finished | `add`, `done` |

use crate::wait_queue::{Position, WaitQueue, Waiter};
use crate::waiting::{awaited, block, block_timeout};
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicUsize;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

const WAITERS: usize = 1;
const ONE: usize = 2;

/// Waits until all members of a group have finished. Each handle counts as one that has not.
///
/// Handles are clones of each other, and each clone counts. [`wait`](Self::wait) consumes its
/// handle, and drops it before it waits. A handle that is kept still counts: `group.clone().wait()`
/// waits for ever, because `group` itself has not finished.
///
/// Work without a handle is counted with [`add`](Self::add) and [`done`](Self::done). Writes before
/// a handle's drop, or before a `done`, are visible after the wait.
///
/// # Cost
///
/// One allocation for each group; one locked instruction to count up or down. The last one also
/// takes a spinlock if there are waiters.
///
/// # Examples
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
    counter: Arc<Counter>,
}

impl WaitGroup {
    /// A group of one: the returned handle.
    pub fn new() -> Self {
        Self { counter: Arc::new(Counter::new()) }
    }

    /// Number of unfinished members at some moment; each handle is one.
    pub fn count(&self) -> usize {
        self.counter.count()
    }

    /// Adds `n` to the count.
    ///
    /// # Panics
    /// If the count would exceed `isize::MAX`; it is not changed.
    pub fn add(&self, n: usize) {
        self.counter.add(n);
    }

    /// Removes one of those [added](Self::add). More calls than were added end the wait too early.
    ///
    /// # Panics
    /// If the count is 0. The last call, with the first panic of a waker, after all waiters were
    /// released.
    pub fn done(&self) {
        assert!(self.counter.try_done(), "`done` called more often than was added");
    }

    /// Drops this handle, and blocks the thread, or suspends the fiber, until no other is left.
    pub fn wait(self) {
        self.leave().wait();
    }

    /// [`wait`](Self::wait) with a time limit. Returns whether all had finished in time. The handle
    /// is dropped either way.
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

    /// [`wait`](Self::wait) as a future. The handle is dropped when the future is first polled or
    /// dropped.
    pub async fn wait_async(self) {
        self.leave().wait_async().await;
    }

    fn leave(self) -> Arc<Counter> {
        self.counter.clone()
    }
}

impl Default for WaitGroup {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for WaitGroup {
    /// Adds one unfinished member.
    fn clone(&self) -> Self {
        self.counter.add(1);
        Self { counter: self.counter.clone() }
    }
}

impl Drop for WaitGroup {
    fn drop(&mut self) {
        // The count is 0 here only after too many calls of `done`.
        self.counter.try_done();
    }
}

/// State that the handles of a group share.
struct Counter {
    word: AtomicUsize,
    queue: WaitQueue,
}

impl Counter {
    /// A count of one.
    fn new() -> Self {
        Self { word: AtomicUsize::new(ONE), queue: WaitQueue::new() }
    }

    fn count(&self) -> usize {
        // Ordering: Acquire pairs with the Release in `try_done`.
        self.word.load(Ordering::Acquire) / ONE
    }

    fn add(&self, n: usize) {
        let more = |word: usize| n.checked_mul(ONE)?.checked_add(word);
        // Relaxed: it publishes nothing; a `done` that follows is ordered by the word.
        let added = self.update(Ordering::Relaxed, more);
        assert!(added.is_ok(), "a wait group counts to {}", isize::MAX);
    }

    /// Returns false, without a change, if the count is 0.
    fn try_done(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word >= ONE {
            if word == ONE | WAITERS {
                return self.done_slow();
            }
            // Ordering: Release pairs with the Acquire in `count`, `is_zero_or_join` and
            // `done_slow`.
            match self.word.compare_exchange_weak(
                word,
                word - ONE,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Under the queue's lock, so that exactly the waiters at the time when it became 0 are
    /// released.
    #[cold]
    fn done_slow(&self) -> bool {
        let mut done = false;
        self.queue.notify_all_if(|| {
            let last = |word: usize| {
                let left = word.checked_sub(ONE)?;
                Some(if left < ONE { 0 } else { left })
            };
            // Ordering: Release as in `done`; Acquire makes the others' writes visible; the waiters
            // get them through the queue's lock.
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

    /// Replaces the word by the result of `f`, with `order`, and returns the previous word. If `f`
    /// returns `None`, the current word is the error.
    fn update(&self, order: Ordering, f: impl Fn(usize) -> Option<usize>) -> Result<usize, usize> {
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

    fn wait(&self) {
        if self.count() != 0 {
            block(awaited("wait group", self), self.wait_async());
        }
    }

    /// Returns whether the count was 0 in time.
    fn wait_timeout(&self, timeout: Duration) -> bool {
        block_timeout(awaited("wait group", self), timeout, self.wait_async()).is_some()
    }

    fn wait_async(&self) -> CounterWait<'_> {
        CounterWait { counter: self, waiter: Waiter::new(&self.queue) }
    }

    /// Under the queue's lock: returns true if the count is 0. Otherwise the word records that a
    /// waiter is queued.
    fn is_zero_or_join(&self) -> bool {
        let join = |word: usize| (word >= ONE).then_some(word | WAITERS);
        // Relaxed: the word's modification order decides which side sees the other.
        self.update(Ordering::Relaxed, join).is_err()
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter").field("count", &self.count()).finish_non_exhaustive()
    }
}

/// The future of [`Counter::wait_async`].
struct CounterWait<'a> {
    counter: &'a Counter,
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
