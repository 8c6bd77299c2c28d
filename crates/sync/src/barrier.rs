//! A reusable barrier. Protocol and proof: the crate's `README.md`, section *Barrier*.

use crate::wait_queue::{Position, WaitQueue, Waiter};
use crate::waiting::{awaited, block, block_pinned_timeout};
use sateen_base::prim::UnsafeCell;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// A reusable barrier: the `n`-th arrival of a round releases all `n`. Then the next round begins.
///
/// The last to arrive is the round's leader. What each participant did before its arrival is
/// visible to all participants of the round afterwards.
///
/// A participant that gives up (a time limit, a dropped future) withdraws its arrival, unless the
/// round was already complete. So the round still needs `n` arrivals.
///
/// # Cost
/// 64 bytes; one spinlock per arrival, and the wake-ups.
///
/// # Examples
///
/// ```
/// use sateen::sync::Barrier;
///
/// let barrier = Barrier::new(3);
/// let leaders = std::thread::scope(|s| {
///     let arrive = || barrier.wait().is_leader();
///     let threads = [0; 3].map(|_| s.spawn(arrive));
///     threads.into_iter().filter_map(|t| t.join().ok()).filter(|leads| *leads).count()
/// });
/// assert_eq!(leaders, 1);
/// ```
pub struct Barrier {
    n: usize,
    queue: WaitQueue,
    /// Accessed under the queue's lock only.
    state: UnsafeCell<State>,
}

struct State {
    /// Arrivals of this round: below `n` whenever the lock is free.
    arrived: usize,
    /// Which round it is; 64 bits do not wrap.
    round: u64,
}

// SAFETY: the state is plain numbers.
unsafe impl Send for Barrier {}
// SAFETY: the state is accessed under the queue's lock only.
unsafe impl Sync for Barrier {}

/// The result of [`Barrier::wait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether this was the last to arrive; true for one participant of each round.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    crate::sys::const_except_loom! {
        /// Creates a barrier for `n`; 0 is the same as 1, which never waits.
        pub const fn new(n: usize) -> Self {
            let state = UnsafeCell::new(State { arrived: 0, round: 0 });
            Self { n: if n == 0 { 1 } else { n }, queue: WaitQueue::new(), state }
        }
    }

    /// Arrives, and blocks the thread, or suspends the fiber, until the round is complete.
    ///
    /// See [`Barrier`] for an example.
    ///
    /// # Panics
    /// The leader, with the first panic of a waker, after all have been released.
    pub fn wait(&self) -> BarrierWaitResult {
        block(awaited("barrier", self), self.wait_async())
    }

    /// [`wait`](Self::wait) with a time limit. Returns `None` if the round was not complete in
    /// time, and the arrival is withdrawn. The limit applies to this participant alone: the others
    /// continue to wait for another one.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// let barrier = sateen::sync::Barrier::new(2);
    /// assert!(barrier.wait_timeout(Duration::from_millis(1)).is_none());
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> Option<BarrierWaitResult> {
        let mut wait = pin!(self.wait_async());
        block_pinned_timeout(awaited("barrier", self), timeout, wait.as_mut())
            // It may have been completed after the last check.
            .or_else(|| (!wait.take_back()).then_some(BarrierWaitResult(false)))
    }

    /// [`wait`](Self::wait) as a future: it arrives when it is first polled.
    ///
    /// # Panics
    /// As [`wait`](Self::wait); and if polled again after it was ready.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Waker}};
    /// let barrier = sateen::sync::Barrier::new(2);
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let mut first = pin!(barrier.wait_async());
    /// assert!(first.as_mut().poll(&mut cx).is_pending());
    /// assert!(barrier.wait().is_leader());
    /// assert!(first.as_mut().poll(&mut cx).is_ready());
    /// ```
    pub fn wait_async(&self) -> BarrierWait<'_> {
        BarrierWait { barrier: self, waiter: Waiter::new(&self.queue), round: Round::NotArrived }
    }

    /// Under the queue's lock.
    fn with_state<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        // SAFETY: the callers hold the lock until after the last use of the reference.
        self.state.with_mut(|state| f(unsafe { &mut *state }))
    }

    /// Under the queue's lock: the leader begins the next round and returns `None`.
    fn arrive(&self) -> Option<u64> {
        self.with_state(|state| {
            state.arrived += 1;
            if state.arrived < self.n {
                return Some(state.round);
            }
            *state = State { arrived: 0, round: state.round + 1 };
            None
        })
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").field("n", &self.n).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
enum Round {
    NotArrived,
    Waiting(u64),
    Over,
}

/// The future of [`Barrier::wait_async`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct BarrierWait<'a> {
    barrier: &'a Barrier,
    waiter: Waiter<'a>,
    round: Round,
}

impl<'a> BarrierWait<'a> {
    fn parts(self: Pin<&mut Self>) -> (&'a Barrier, Pin<&mut Waiter<'a>>, &mut Round) {
        // SAFETY: the waiter is pinned with us and never moved; the others are plain values.
        unsafe {
            let this = self.get_unchecked_mut();
            (this.barrier, Pin::new_unchecked(&mut this.waiter), &mut this.round)
        }
    }

    /// Takes the arrival back; false if the round is complete already.
    fn take_back(self: Pin<&mut Self>) -> bool {
        let (barrier, waiter, round) = self.parts();
        let Round::Waiting(mine) = std::mem::replace(round, Round::Over) else { return true };
        waiter.cancel();
        barrier.queue.under_lock(|| {
            barrier.with_state(|state| {
                let incomplete = state.round == mine;
                state.arrived -= usize::from(incomplete);
                incomplete
            })
        })
    }
}

impl Future for BarrierWait<'_> {
    type Output = BarrierWaitResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<BarrierWaitResult> {
        let (barrier, mut waiter, round) = self.parts();
        match *round {
            Round::Over => panic!("a barrier's future was polled after it was ready"),
            Round::NotArrived => {
                let mut arrived = None;
                let waits = waiter.as_mut().enqueue(Position::Back, cx.waker().clone(), || {
                    arrived = barrier.arrive();
                    arrived.is_none()
                });
                *round = arrived.map_or(Round::Over, Round::Waiting);
                if waits {
                    return Poll::Pending;
                }
                // This may also wake waiters of the next round: they check the round and join
                // again.
                barrier.queue.notify_all();
                Poll::Ready(BarrierWaitResult(true))
            }
            Round::Waiting(mine) => {
                if waiter.as_mut().poll_wait(cx).is_pending() {
                    return Poll::Pending;
                }
                let complete = || barrier.with_state(|state| state.round != mine);
                if waiter.as_mut().enqueue(Position::Back, cx.waker().clone(), complete) {
                    return Poll::Pending;
                }
                *round = Round::Over;
                Poll::Ready(BarrierWaitResult(false))
            }
        }
    }
}

impl Drop for BarrierWait<'_> {
    fn drop(&mut self) {
        // SAFETY: if the waiter ever queued we are pinned; nothing moves before the end of the
        // drop.
        unsafe { Pin::new_unchecked(self) }.take_back();
    }
}
