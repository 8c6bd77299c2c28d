//! How callers wait at one end of a channel. Each end has a waiting point.
//!
//! A caller that changes the channel claims a slot by a sequentially consistent exchange, and then
//! notifies. So a notification without waiters is one load, and no fence.

use super::spin_phase::{SpinPhase, has_passed};
use sateen_base::prim::time::Instant;
use sateen_sync::WaitPoint;
use sateen_sync::park::{self, Awaited};
use sateen_sync::wait_queue::{Position, Waiter};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Wakes up to `count` waiters. The caller's last exchange of the channel's state was sequentially
/// consistent.
pub(super) fn notify(waiters: &WaitPoint, count: usize) {
    for _ in 0..count {
        waiters.notify_one_unfenced();
        if !waiters.has_waiters() {
            return;
        }
    }
}

/// Blocks the caller until `attempt` returns a result; `None` if the deadline comes first.
///
/// `attempt` is called first, whenever the caller is woken, and when `ready` returns true.
pub(super) fn block<R>(
    waiters: &WaitPoint,
    what: Awaited,
    deadline: Option<Instant>,
    ready: impl Fn() -> bool,
    mut attempt: impl FnMut() -> Option<R>,
) -> Option<R> {
    let mut spin = SpinPhase::new(deadline);
    loop {
        if let Some(result) = attempt() {
            return Some(result);
        }
        if !spin.pause() {
            break;
        }
    }
    if deadline.is_some_and(has_passed) {
        return None;
    }
    let mut waiter = pin!(waiters.waiter());
    let mut position = Position::Back;
    park::waiting_for(what, || {
        loop {
            if waiters.enqueue(waiter.as_mut(), position, park::current_waker(), &ready) {
                waiter.as_mut().wait_joined(deadline);
                // A waiter that was woken and comes too late has waited long already.
                position = Position::Front;
            }
            if let Some(result) = attempt() {
                return Some(result);
            }
            if deadline.is_some_and(has_passed) {
                return None;
            }
        }
    })
}

/// The same as one step of a future whose waiter is `waiter`.
pub(super) fn poll<R>(
    waiters: &WaitPoint,
    mut waiter: Pin<&mut Waiter<'_>>,
    cx: &mut Context<'_>,
    ready: impl Fn() -> bool,
    mut attempt: impl FnMut() -> Option<R>,
) -> Poll<R> {
    let mut position = Position::Back;
    if waiter.is_waiting() {
        if waiter.as_mut().poll_wait(cx).is_pending() {
            return Poll::Pending;
        }
        position = Position::Front;
    }
    loop {
        if let Some(result) = attempt() {
            return Poll::Ready(result);
        }
        if waiters.enqueue(waiter.as_mut(), position, cx.waker().clone(), &ready) {
            return Poll::Pending;
        }
    }
}

/// What a caller waits for, as reports show it.
pub(super) fn awaited<C>(kind: &'static str, channel: &C) -> Awaited {
    Awaited::new(kind, std::ptr::from_ref(channel).cast::<()>().addr())
}
