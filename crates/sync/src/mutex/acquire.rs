//! A locker in the slow path, blocking or polled.

use super::raw::{BARGE_LIMIT, RawMutex, STARVED};
use crate::spin_phase::SpinPhase;
use crate::wait_queue::{CancelOutcome, Position, Waiter};
use sateen_base::prim::time::Instant;
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A locker that may queue. From its notification it owns the mutex's `WAKING` bit, until it takes
/// the lock, rejoins the queue, or is dropped and passes the bit on.
pub(crate) struct Acquire<'a> {
    raw: &'a RawMutex,
    waiter: Waiter<'a>,
    /// Whether its caller blocks; otherwise it belongs to a future.
    blocks: bool,
    /// Whether it has noticed its notification.
    on_the_way: Cell<bool>,
    /// How often it was notified and then found the lock taken.
    lost: Cell<u32>,
}

impl<'a> Acquire<'a> {
    pub(crate) fn new(raw: &'a RawMutex, blocks: bool) -> Self {
        let (on_the_way, lost) = (Cell::new(false), Cell::new(0));
        Self { raw, waiter: Waiter::new(&raw.queue), blocks, on_the_way, lost }
    }

    fn waiter(self: Pin<&mut Self>) -> Pin<&mut Waiter<'a>> {
        // SAFETY: the waiter is pinned with us and never moved out.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiter) }
    }

    /// Takes the lock (ready), or joins the queue with `waker()` (pending).
    pub(super) fn attempt(mut self: Pin<&mut Self>, mut waker: impl FnMut() -> Waker) -> Poll<()> {
        let (raw, on_the_way, lost) = (self.raw, self.on_the_way.get(), self.lost.get());
        let blocks = self.blocks;
        let position = if lost == 0 { Position::Back } else { Position::Front };
        let starved = if lost >= BARGE_LIMIT { STARVED } else { 0 };
        let state = loop {
            let phase = if on_the_way { SpinPhase::of(blocks) } else { SpinPhase::over() };
            if raw.spin(on_the_way, phase) {
                break Poll::Ready(());
            }
            let ready = || raw.cannot_join(on_the_way, starved);
            if self.as_mut().waiter().enqueue(position, waker(), ready) {
                break Poll::Pending;
            }
        };
        // The exchange that took the lock, or that marked the queue, has cleared `WAKING`.
        self.on_the_way.set(false);
        state
    }

    /// Blocks until notified, or until `deadline`. In the latter case returns false and has left
    /// the queue. Call it after a pending [`attempt`](Self::attempt).
    pub(super) fn wait_until(mut self: Pin<&mut Self>, deadline: Option<Instant>) -> bool {
        let notified = self.as_mut().waiter().wait_joined(deadline);
        if notified {
            self.set_out();
        }
        notified
    }

    /// The future's step: everything that needs no blocking.
    pub(crate) fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.waiter.is_waiting() {
            if self.as_mut().waiter().poll_wait(cx).is_pending() {
                return Poll::Pending;
            }
            self.set_out();
        } else if !self.on_the_way.get() && self.raw.spin(false, SpinPhase::of(self.blocks)) {
            self.raw.acquired();
            return Poll::Ready(());
        }
        let state = self.as_mut().attempt(|| cx.waker().clone());
        if state.is_ready() {
            self.raw.acquired();
        }
        state
    }

    /// Records that it has noticed its notification.
    fn set_out(&self) {
        self.on_the_way.set(true);
        self.lost.set(self.lost.get().saturating_add(1));
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        // SAFETY: if the waiter ever queued we are pinned; nothing moves before the end of the
        // drop.
        let waiter = unsafe { Pin::new_unchecked(&mut self.waiter) };
        if matches!(waiter.cancel(), CancelOutcome::Notified(_)) || self.on_the_way.get() {
            self.raw.pass_on();
        }
    }
}
