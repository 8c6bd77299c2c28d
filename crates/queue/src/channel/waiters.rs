//! The waiters at one end of a channel.
//!
//! | `any` | meaning | leaves it |
//! |---|---|---|
//! | false | no waiter is queued | a joining waiter, under the queue's lock, before its last look |
//! | true | there may be waiters | the notifier that takes the last one out, under the lock |

use super::spin_phase::{SpinPhase, has_passed};
use crate::prim::{AtomicBool, Ordering};
use sateen_base::canary;
use sateen_base::prim::fence;
use sateen_base::prim::time::Instant;
use sateen_base::unwind::discard;
use sateen_sync::WaitQueue;
use sateen_sync::park::{self, Awaited};
use sateen_sync::wait_queue::{Position, Waiter};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// The waiters of one end, with a flag in front of their queue: while the flag is down, a notifier
/// does not take the queue's lock.
///
/// A caller that changes the channel claims a slot of the queue by a sequentially consistent
/// exchange, and then reads the flag. A waiter raises the flag, issues a fence, and looks at the
/// channel a last time. At least one of the two sees the other, so the fast path pays for one load.
pub(super) struct Waiters {
    any: AtomicBool,
    queue: WaitQueue,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self { any: AtomicBool::new(false), queue: WaitQueue::new() }
    }

    /// Wakes one waiter, if there is one. The caller's last exchange of the channel's state was
    /// sequentially consistent.
    #[inline(always)]
    pub(super) fn notify_one(&self) {
        if self.is_any() {
            self.notify_one_slow();
        }
    }

    /// Whether there may be waiters; the caller keeps the same rule as for `notify_one`.
    #[inline(always)]
    pub(super) fn is_any(&self) -> bool {
        if cfg!(loom) {
            // The model takes sequentially consistent accesses for acquire and release; it orders
            // by its fences.
            fence(Ordering::SeqCst);
        }
        // Ordering: SeqCst, after the caller's SeqCst claim; pairs with the fence in `join`. Either
        // this load sees the flag, or the last look there sees the claim.
        self.any.load(Ordering::SeqCst)
    }

    #[cold]
    fn notify_one_slow(&self) {
        quietly(|| {
            self.queue.notify_one_with(|outcome| {
                if !outcome.more {
                    // Relaxed: changed under the queue's lock only.
                    self.any.store(false, Ordering::Relaxed);
                }
            });
        });
    }

    /// Wakes up to `count` waiters.
    pub(super) fn notify(&self, count: usize) {
        for _ in 0..count {
            if !self.is_any() {
                return;
            }
            self.notify_one_slow();
        }
    }

    /// Wakes all waiters.
    #[cold]
    pub(super) fn notify_all(&self) {
        quietly(|| {
            self.queue.notify_all_with(|| self.any.store(false, Ordering::Relaxed));
        });
    }

    /// A waiter that is not queued yet.
    pub(super) fn waiter(&self) -> Waiter<'_> {
        Waiter::new(&self.queue)
    }

    /// Queues `waiter` unless `ready` holds; returns whether it is queued. `ready` is short, and
    /// neither blocks nor panics.
    pub(super) fn join(
        &self,
        waiter: Pin<&mut Waiter<'_>>,
        position: Position,
        waker: Waker,
        ready: impl FnOnce() -> bool,
    ) -> bool {
        waiter.enqueue(position, waker, || {
            if !canary!("channel_flag_missing") {
                self.any.store(true, Ordering::Relaxed);
            }
            // Ordering: SeqCst, between the flag and the last look; see `is_any`.
            if !canary!("channel_join_unfenced") {
                fence(Ordering::SeqCst);
            }
            !canary!("channel_last_look_missing") && ready()
        })
    }

    /// Blocks the caller until `attempt` returns a result; `None` if the deadline comes first.
    ///
    /// `attempt` is called first, whenever the caller is woken, and when `ready` returns true.
    pub(super) fn block<R>(
        &self,
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
        let mut waiter = pin!(self.waiter());
        let mut position = Position::Back;
        park::waiting_for(what, || {
            loop {
                if self.join(waiter.as_mut(), position, park::current_waker(), &ready) {
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
        &self,
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
            if self.join(waiter.as_mut(), position, cx.waker().clone(), &ready) {
                return Poll::Pending;
            }
        }
    }
}

/// Runs a waker, which is user code, and discards its panic. The caller may hold the only copy of
/// an item, owe an item to a receiver, or have other waiters to wake.
#[inline(always)]
pub(super) fn quietly(f: impl FnOnce()) {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(()) => {}
        // In a model the panic is the model's own.
        Err(payload) if cfg!(loom) => resume_unwind(payload),
        Err(payload) => discard(payload),
    }
}

/// What a caller waits for, as reports show it.
pub(super) fn awaited<C>(kind: &'static str, channel: &C) -> Awaited {
    Awaited::new(kind, std::ptr::from_ref(channel).cast::<()>().addr())
}
