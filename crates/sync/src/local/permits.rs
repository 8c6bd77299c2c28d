//! Permits for one thread, first come, first served: the base of local locks, semaphores and
//! channels.

use super::queue::{CancelOutcome, LocalQueue, LocalWaiter};
use crate::wait_queue::Permit;
use crate::wakers::let_go;
use sateen_base::unwind::run_and_discard;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Free permits and their waiters. Between calls of this module, the first waiter wants more than
/// there are, or the permits are closed and there are no waiters.
///
/// Permits are handed to waiters, which then own them. On one thread nothing else runs meanwhile.
pub(super) struct Permits {
    free: Cell<usize>,
    closed: Cell<bool>,
    queue: LocalQueue,
}

/// The permits are closed, and there are too few.
#[derive(Debug)]
pub(super) struct Closed;

impl Permits {
    pub(super) const fn new(free: usize) -> Self {
        Self { free: Cell::new(free), closed: Cell::new(false), queue: LocalQueue::new() }
    }

    pub(super) fn free(&self) -> usize {
        self.free.get()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Takes `n` if there are enough and nobody waits.
    #[inline]
    pub(super) fn try_take(&self, n: usize) -> bool {
        let free = self.free.get();
        let may = free >= n && (n == 0 || self.queue.is_empty());
        if may {
            self.free.set(free - n);
        }
        may
    }

    /// Takes `n`, in turn.
    pub(super) fn take(&self, n: usize) -> Take<'_> {
        Take { permits: self, n, waiter: LocalWaiter::new(&self.queue) }
    }

    /// Adds `n`. Returns false, without a change, if there is no room.
    #[inline]
    pub(super) fn put(&self, n: usize) -> bool {
        let Some(free) = self.free.get().checked_add(n) else { return false };
        self.free.set(free);
        if !self.queue.is_empty() {
            self.hand_out();
        }
        true
    }

    /// Like [`put`](Self::put), but a panic of a waker is discarded, because it would lose what the
    /// caller holds.
    #[inline]
    pub(super) fn put_quietly(&self, n: usize) {
        if let Some(free) = self.free.get().checked_add(n) {
            self.free.set(free);
            if !self.queue.is_empty() {
                run_and_discard(|| self.hand_out());
            }
        }
    }

    /// Hands out permits to the first waiters, while there are enough.
    #[cold]
    fn hand_out(&self) {
        self.queue.notify_while(Permit::One, |_, wants| self.try_take_for_front(wants));
    }

    fn try_take_for_front(&self, wants: usize) -> bool {
        let left = self.free.get().checked_sub(wants);
        if let Some(left) = left {
            self.free.set(left);
        }
        left.is_some()
    }

    /// Ends all waits: waiters, and callers that would have to wait, get [`Closed`].
    pub(super) fn close(&self) {
        self.closed.set(true);
        self.queue.notify_all();
    }
}

/// The future of [`Permits::take`]. If it is dropped after it was handed permits and before it
/// noticed, it returns them.
pub(super) struct Take<'a> {
    permits: &'a Permits,
    n: usize,
    waiter: LocalWaiter<'a>,
}

impl Future for Take<'_> {
    type Output = Result<(), Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (permits, n) = (self.permits, self.n);
        // SAFETY: the waiter is pinned with us and never moved.
        let mut waiter = unsafe { self.map_unchecked_mut(|this| &mut this.waiter) };
        if waiter.is_waiting() {
            return waiter.poll(cx.waker()).map(|permit| match permit {
                Permit::One => Ok(()),
                Permit::All => Err(Closed),
            });
        }
        // Cloned first: cloning may run any code.
        let waker = cx.waker().clone();
        if permits.try_take(n) {
            // A panic of its destructor must not lose the permits.
            let_go(Some(waker));
            return Poll::Ready(Ok(()));
        }
        if permits.closed.get() {
            return Poll::Ready(Err(Closed));
        }
        waiter.as_mut().join(n, waker);
        Poll::Pending
    }
}

impl Drop for Take<'_> {
    fn drop(&mut self) {
        // SAFETY: if the waiter ever queued we are pinned; nothing moves before the end of the
        // drop.
        match unsafe { Pin::new_unchecked(&mut self.waiter) }.cancel() {
            CancelOutcome::Notified(Permit::One) => {
                self.permits.put(self.n);
            }
            // The new front waiter may want less.
            CancelOutcome::Withdrawn => self.permits.hand_out(),
            _ => {}
        }
    }
}
