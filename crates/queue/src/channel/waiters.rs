//! Who waits at one end of a channel, and for how long one looks before one waits.
//!
//! | `any` | meaning | leaves it |
//! |---|---|---|
//! | false | nobody is queued | who joins, under the queue's lock, before it looks a last time |
//! | true | somebody may be queued | who takes the last one out, under the lock |

use crate::prim::{AtomicBool, Ordering};
use sateen_base::canary;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{fence, spin_loop, thread};
use sateen_base::tsc;
use sateen_base::unwind::discard;
use sateen_sync::WaitQueue;
use sateen_sync::park::{self, Awaited};
use sateen_sync::wait_queue::{Place, Waiter};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// The waiters of one end, with a flag in front of their queue so that nobody takes its lock in vain.
///
/// Who changes the channel does so by a sequentially consistent exchange (the claim of a place in the
/// queue) and then looks at the flag; who waits sets the flag, issues a fence, and looks at the channel a
/// last time: at least one of them sees the other. So the fast path pays for a load.
pub(super) struct Waiters {
    any: AtomicBool,
    queue: WaitQueue,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self { any: AtomicBool::new(false), queue: WaitQueue::new() }
    }

    /// Wakes one, if somebody waits. The caller's last exchange of the channel's state was sequentially
    /// consistent.
    #[inline(always)]
    pub(super) fn notify_one(&self) {
        if self.is_any() {
            self.notify_one_slow();
        }
    }

    /// Whether somebody may wait; bound by the same rule.
    #[inline(always)]
    pub(super) fn is_any(&self) -> bool {
        if cfg!(loom) {
            // The model takes sequentially consistent accesses for acquire and release: its fences are what
            // it orders.
            fence(Ordering::SeqCst);
        }
        // Ordering: SeqCst, after the caller's SeqCst claim; pairs with the fence in `join`. Either this sees the
        // flag, or the last look there sees the claim.
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

    /// Wakes up to `count` of them.
    pub(super) fn notify(&self, count: usize) {
        for _ in 0..count {
            if !self.is_any() {
                return;
            }
            self.notify_one_slow();
        }
    }

    /// Wakes all who wait.
    #[cold]
    pub(super) fn notify_all(&self) {
        quietly(|| {
            self.queue.notify_all_with(|| self.any.store(false, Ordering::Relaxed));
        });
    }

    /// A waiter, not queued yet.
    pub(super) fn waiter(&self) -> Waiter<'_> {
        Waiter::new(&self.queue)
    }

    /// Queues `waiter` unless `ready` holds; whether it is queued. `ready` is short, and neither blocks nor
    /// panics.
    pub(super) fn join(
        &self,
        waiter: Pin<&mut Waiter<'_>>,
        place: Place,
        waker: Waker,
        ready: impl FnOnce() -> bool,
    ) -> bool {
        waiter.enqueue(place, waker, || {
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

    /// Blocks the caller until `attempt` gives something; `None` if that is not before `deadline`.
    ///
    /// `attempt` is tried first, whenever the caller is woken, and when `ready` says so.
    pub(super) fn block<R>(
        &self,
        what: Awaited,
        deadline: Option<Instant>,
        ready: impl Fn() -> bool,
        mut attempt: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        let mut patience = Patience::new(deadline);
        loop {
            if let Some(result) = attempt() {
                return Some(result);
            }
            if !patience.wait() {
                break;
            }
        }
        if deadline.is_some_and(has_passed) {
            return None;
        }
        let mut waiter = pin!(self.waiter());
        let mut place = Place::Back;
        park::waiting_for(what, || {
            loop {
                if self.join(waiter.as_mut(), place, park::current_waker(), &ready) {
                    waiter.as_mut().wait_joined(deadline);
                    // Who was woken, and comes too late, has waited long already.
                    place = Place::Front;
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

    /// The same as a step of a future whose waiter is `waiter`.
    pub(super) fn poll<R>(
        &self,
        mut waiter: Pin<&mut Waiter<'_>>,
        cx: &mut Context<'_>,
        ready: impl Fn() -> bool,
        mut attempt: impl FnMut() -> Option<R>,
    ) -> Poll<R> {
        let mut place = Place::Back;
        if waiter.is_waiting() {
            if waiter.as_mut().poll_wait(cx).is_pending() {
                return Poll::Pending;
            }
            place = Place::Front;
        }
        loop {
            if let Some(result) = attempt() {
                return Poll::Ready(result);
            }
            if self.join(waiter.as_mut(), place, cx.waker().clone(), &ready) {
                return Poll::Pending;
            }
        }
    }
}

/// Runs foreign code whose panic ends here: a waker's. Its caller may hold an item that nobody else
/// has, owe one, or have others to wake.
#[inline(always)]
pub(super) fn quietly(f: impl FnOnce()) {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(()) => {}
        // There a panic is the model's own.
        Err(payload) if cfg!(loom) => resume_unwind(payload),
        Err(payload) => discard(payload),
    }
}

/// Whether `deadline` has passed. In models it has as soon as anybody asks: what a clock could decide, the
/// interleavings do.
pub(super) fn has_passed(deadline: Instant) -> bool {
    cfg!(loom) || Instant::now() >= deadline
}

/// What a caller waits for, for reports.
pub(super) fn awaited<C>(kind: &'static str, channel: &C) -> Awaited {
    Awaited::new(kind, std::ptr::from_ref(channel).cast::<()>().addr())
}

/// How long one looks again and again before one sleeps: about as long as sleeping and being woken costs.
///
/// A thread pauses, ever longer, then yields its time slice, so that the others get on when there are more
/// threads than cores. A fiber does not: suspending costs less than looking on, and lets others work.
pub(super) struct Patience {
    /// Pauses of the next round; 0 before the first.
    pauses: u32,
    started: u64,
    /// Sleeps at once.
    hurry: bool,
}

impl Patience {
    /// Of looking with pauses.
    const PAUSING: Duration = Duration::from_micros(4);
    /// Of looking at all.
    const LOOKING: Duration = Duration::from_micros(20);
    const MOST_PAUSES: u32 = 64;

    /// None at all if `deadline` has passed.
    pub(super) fn new(deadline: Option<Instant>) -> Self {
        let hurry = park::suspends() || deadline.is_some_and(has_passed);
        Self { pauses: 0, started: 0, hurry }
    }

    /// Waits a moment; false if it is time to sleep.
    pub(super) fn wait(&mut self) -> bool {
        if cfg!(loom) || self.hurry {
            return false;
        }
        if self.pauses == 0 {
            self.pauses = 1;
            self.started = tsc::now();
            spin_loop();
            return true;
        }
        let spent = tsc::now().wrapping_sub(self.started);
        if spent < tsc::ticks(Self::PAUSING) {
            for _ in 0..self.pauses {
                spin_loop();
            }
            self.pauses = (self.pauses * 2).min(Self::MOST_PAUSES);
        } else if spent < tsc::ticks(Self::LOOKING) {
            thread::yield_now();
        } else {
            return false;
        }
        true
    }
}
