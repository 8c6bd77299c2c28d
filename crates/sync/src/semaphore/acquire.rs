//! A caller that waits for permits.

use super::word::{CLOSED, WAITERS, WAKING};
use super::{AcquireError, Semaphore, SemaphoreGuard};
use crate::wait_queue::{CancelOutcome, Permit, Position, Waiter};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The future of [`Semaphore::acquire_async`].
///
/// From its notification it owns the semaphore's `WAKING` bit, until it takes its permits, rejoins
/// the queue, or is dropped and passes the bit on.
#[must_use = "futures do nothing unless polled"]
pub struct Acquire<'a> {
    semaphore: &'a Semaphore,
    n: usize,
    waiter: Waiter<'a>,
    /// Whether it has noticed its notification.
    on_the_way: bool,
}

impl<'a> Acquire<'a> {
    pub(super) fn new(semaphore: &'a Semaphore, n: usize) -> Self {
        Self { semaphore, n, waiter: Waiter::new(&semaphore.queue), on_the_way: false }
    }
}

impl<'a> Future for Acquire<'a> {
    type Output = Result<SemaphoreGuard<'a>, AcquireError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the waiter is pinned with us and never moved; the others are plain values.
        let (semaphore, n, mut waiter, on_the_way) = unsafe {
            let this = self.get_unchecked_mut();
            (this.semaphore, this.n, Pin::new_unchecked(&mut this.waiter), &mut this.on_the_way)
        };
        if n > Semaphore::MAX_PERMITS {
            return Poll::Ready(Err(AcquireError::TooMany(n)));
        }
        if waiter.is_waiting() {
            if waiter.as_mut().poll_wait(cx).is_pending() {
                return Poll::Pending;
            }
            // Unless `close` notified this waiter, which the word records.
            *on_the_way = true;
        }
        loop {
            // Unless `take` grants nothing, this waiter no longer owns `WAKING`, even if it
            // unwinds.
            let turn = std::mem::take(on_the_way);
            match semaphore.take(n, turn) {
                Err(AcquireError::NoPermits) => *on_the_way = turn,
                result => return Poll::Ready(result),
            }
            let place = if turn { Position::Front } else { Position::Back };
            let ready = || semaphore.cannot_join(n, turn);
            if waiter.as_mut().enqueue(place, cx.waker().clone(), ready) {
                // The exchange that let us join has cleared `WAKING`.
                *on_the_way = false;
                return Poll::Pending;
            }
        }
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        // SAFETY: if the waiter ever queued we are pinned; nothing moves before the end of the
        // drop.
        let waiter = unsafe { Pin::new_unchecked(&mut self.waiter) };
        match waiter.cancel() {
            CancelOutcome::Notified(Permit::One) => self.semaphore.leave(true),
            CancelOutcome::Withdrawn => self.semaphore.leave(false),
            _ if self.on_the_way => self.semaphore.leave(true),
            _ => {}
        }
    }
}

impl fmt::Debug for Acquire<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").field("n", &self.n).finish_non_exhaustive()
    }
}

impl Semaphore {
    /// Takes `n` permits, never out of turn: a newcomer gets them only while nobody waits.
    #[inline]
    pub(super) fn take(
        &self,
        n: usize,
        on_the_way: bool,
    ) -> Result<SemaphoreGuard<'_>, AcquireError> {
        let mut word = self.load();
        loop {
            if word.has(CLOSED) {
                return Err(AcquireError::Closed);
            }
            let barred = !on_the_way && n > 0 && word.has(WAITERS | WAKING);
            let Some(left) = word.less(n as u64).filter(|_| !barred) else {
                return Err(AcquireError::NoPermits);
            };
            // A taker that leaves permits for the next waiter keeps `WAKING` and takes that waiter
            // out.
            let next = on_the_way && left.has(WAITERS) && left.permits() > 0;
            let new = match (on_the_way, next) {
                (false, _) | (true, true) => left,
                (true, false) => left.without(WAKING).with_need(1),
            };
            match self.exchange(word, new) {
                Ok(()) => {
                    // The guard is created first: if a waker panics, the permits are returned.
                    let guard = SemaphoreGuard::new(self, n);
                    if next {
                        self.wake_front();
                    }
                    return Ok(guard);
                }
                Err(seen) => word = seen,
            }
        }
    }

    /// Under the queue's lock: returns true if there is no need to join. Otherwise the word records
    /// that a waiter is queued.
    fn cannot_join(&self, n: usize, on_the_way: bool) -> bool {
        let mut word = self.load();
        loop {
            let barred = !on_the_way && word.has(WAITERS | WAKING);
            if word.has(CLOSED) || (!barred && word.less(n as u64).is_some()) {
                return true;
            }
            let front = on_the_way || !barred;
            let new = word.without(if on_the_way { WAKING } else { 0 });
            let new = if front { new.with_need(n as u64) } else { new };
            let new = new.with(WAITERS);
            match self.exchange(word, new) {
                Ok(()) => return false,
                Err(seen) => word = seen,
            }
        }
    }

    /// Called when a waiter has left. It owned `WAKING`, or it may have been the front, and the new
    /// front may want less. Either way the front, if there is one and there are permits, must check
    /// again.
    fn leave(&self, owned_waking: bool) {
        let mut word = self.load();
        loop {
            if word.has(CLOSED) || (!owned_waking && (word.has(WAKING) || !word.has(WAITERS))) {
                return;
            }
            let wake = word.has(WAITERS) && word.permits() > 0;
            let new = if wake { word.with(WAKING) } else { word.without(WAKING).with_need(1) };
            match self.exchange(word, new) {
                Ok(()) if wake => return self.wake_front(),
                Ok(()) => return,
                Err(seen) => word = seen,
            }
        }
    }

    /// The caller owns `WAKING`: passes it to the first waiter, or clears it if there is none.
    #[cold]
    pub(super) fn wake_front(&self) {
        self.queue.notify_one_then(|outcome| {
            let mut word = self.load();
            loop {
                let new = match (outcome.found, outcome.more) {
                    (true, true) => word,
                    (true, false) => word.without(WAITERS),
                    (false, _) => word.without(WAITERS | WAKING),
                };
                match self.exchange(word, new.with_need(1)) {
                    Ok(()) => return,
                    Err(seen) => word = seen,
                }
            }
        });
    }
}
