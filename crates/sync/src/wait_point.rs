//! The wait point: announce, fence, check again, sleep. Protocol and proof: the crate's
//! `README.md`, section *Waiting point*.
//!
//! | `any` | meaning | changed by |
//! |---|---|---|
//! | false | no waiter must be told | a waiter that joins, before its last check |
//! | true | there may be waiters | notifier: takes out the last, or all; waiter: alone and ready |
//!
//! The flag changes only under the queue's lock, and is read without it.

use crate::hook::current_waker;
use crate::wait_queue::{CancelOutcome, Permit, Position, WaitQueue, Waiter};
use sateen_base::fence as asymmetric;
use sateen_base::prim::searched::AtomicBool;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Ordering, fence};
use sateen_base::unwind::run_and_discard;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Poll, Waker};

/// The longest wait without the fence that interrupts other threads.
const PROVISIONAL: Duration = Duration::from_micros(100);

/// A place where threads, fibers and futures wait for a change that others make without a lock.
///
/// A waiter announces itself, fences, checks again, and sleeps. A notifier makes its change,
/// fences, and checks whether a waiter is announced. So either the waiter sees the change or the
/// notifier sees the waiter, and a notifier without waiters takes no lock.
///
/// | Point | Notifier without waiters | Waiter |
/// |---|---|---|
/// | [`new`](Self::new) | a full fence, a load | a full fence |
/// | [`new`](Self::new), `notify_one_unfenced` | a load, after an exchange | a full fence |
/// | [`asymmetric`](Self::asymmetric) | a load | a heavy fence ([`sateen_base::fence`]) |
///
/// The last is for points that are notified much more often than waited on. A wait also takes the
/// queue's spinlock.
///
/// The point is not padded: notifiers read it often, so keep it away from data that others write
/// often.
///
/// # Examples
///
/// ```
/// use sateen::sync::WaitPoint;
/// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
///
/// let (point, done) = (WaitPoint::new(), AtomicBool::new(false));
/// std::thread::scope(|s| {
///     s.spawn(|| {
///         done.store(true, Relaxed);
///         point.notify_one();
///     });
///     while !done.load(Relaxed) {
///         point.wait(None, || done.load(Relaxed));
///     }
/// });
/// ```
#[derive(Debug)]
pub struct WaitPoint {
    any: AtomicBool,
    /// Whether the notifier's fence is light, and the waiter's heavy.
    light: bool,
    queue: WaitQueue,
}

impl WaitPoint {
    /// A point with full fences on both sides.
    pub fn new() -> Self {
        Self { any: AtomicBool::new(false), light: false, queue: WaitQueue::new() }
    }

    /// A point whose notifiers fence for free and whose waiters pay. Without system support, the
    /// same as [`new`](Self::new).
    pub fn asymmetric() -> Self {
        Self { light: cfg!(loom) || asymmetric::is_asymmetric(), ..Self::new() }
    }

    /// Whether there may be waiters: a hint.
    #[inline(always)]
    pub fn has_waiters(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Wakes one waiter, if there is one, after a change that one of them waits for.
    ///
    /// A panic of its waker is discarded, because the caller may hold an item that would be lost.
    #[inline]
    pub fn notify_one(&self) {
        if self.light {
            asymmetric::light();
        } else {
            // Ordering: SeqCst, with the waiter's fence: either that waiter sees the change, or
            // this thread sees that it waits.
            fence(Ordering::SeqCst);
        }
        if self.has_waiters() {
            self.notify_one_slow();
        }
    }

    /// [`notify_one`](Self::notify_one) for a caller whose change was a sequentially consistent
    /// exchange, or who has issued a full fence since.
    #[inline(always)]
    pub fn notify_one_unfenced(&self) {
        self.notify_one_unless(|| false);
    }

    /// Like [`notify_one_unfenced`](Self::notify_one_unfenced), unless `others` ensure that no
    /// waiter that could continue is left. They check for the change after they were counted here.
    #[inline(always)]
    pub fn notify_one_unless(&self, others: impl FnOnce() -> bool) {
        if cfg!(loom) {
            // The model treats sequentially consistent accesses as acquire and release; it orders
            // by its fences.
            fence(Ordering::SeqCst);
        }
        // Ordering: SeqCst, after the caller's exchange; pairs with the fence in `join`. Either
        // this load sees the flag, or the last check there sees the change.
        if self.any.load(Ordering::SeqCst) && !others() {
            self.notify_one_slow();
        }
    }

    #[cold]
    fn notify_one_slow(&self) {
        run_and_discard(|| {
            self.queue.notify_one_with(|outcome| {
                if !outcome.more {
                    // Relaxed: the lock orders it.
                    self.any.store(false, Ordering::Relaxed);
                }
            });
        });
    }

    /// Wakes all waiters, after a change that all wait for.
    ///
    /// Panics of their wakers are discarded.
    #[inline]
    pub fn notify_all(&self) {
        // Ordering: SeqCst as in `notify_one`.
        fence(Ordering::SeqCst);
        if self.has_waiters() {
            self.notify_all_slow();
        }
    }

    #[cold]
    fn notify_all_slow(&self) {
        run_and_discard(|| {
            self.queue.notify_all_with(|| self.any.store(false, Ordering::Relaxed));
        });
    }

    /// Waits until notified or until `deadline`, unless `ready` returns true. Blocks the thread, or
    /// suspends the fiber. May return spuriously: call it in a loop.
    ///
    /// The return may have consumed a notification, which no other waiter then gets. So a caller
    /// that wants to give up, for example after `deadline`, first checks once more for the change,
    /// or calls [`notify_one`](Self::notify_one).
    ///
    /// `ready` reads what the notifiers change. It runs under a spinlock, by the rules of
    /// [`WaitQueue::wait_unless`].
    ///
    /// At an [asymmetric](Self::asymmetric) point the waiter first sleeps for at most 100 µs
    /// without the heavy fence, which interrupts running threads: most waits end in that time.
    #[cold]
    pub fn wait(&self, deadline: Option<Instant>, ready: impl Fn() -> bool) {
        let mut waiter = pin!(self.waiter());
        if !self.join(waiter.as_mut(), Position::Back, current_waker(), &ready) {
            return;
        }
        if self.light && !cfg!(loom) {
            let soon = Instant::now() + PROVISIONAL;
            if deadline.is_some_and(|deadline| deadline <= soon) {
                waiter.wait_joined(deadline);
                return;
            }
            if waiter.as_mut().rest_joined(Some(soon)) {
                return;
            }
        }
        if !self.light {
            waiter.wait_joined(deadline);
            return;
        }
        if self.leaves_after_fence(waiter.as_mut(), &ready) {
            return;
        }
        // That check ran outside of the lock: it may have waited itself, and consumed our token.
        match deadline {
            Some(deadline) => _ = waiter.wait_until(deadline),
            None => waiter.wait(),
        }
    }

    /// [`wait`](Self::wait) without a time limit, as a future. If dropped early, it passes its
    /// notification on.
    pub async fn wait_async(&self, ready: impl Fn() -> bool) {
        let mut waiter = pin!(self.waiter());
        let mut passing = Passing { point: self, waiter: waiter.as_mut() };
        let mut waits = false;
        poll_fn(|cx| {
            let mut waiter = passing.waiter.as_mut();
            if waits {
                return waiter.poll_wait(cx);
            }
            waits = self.join(waiter.as_mut(), Position::Back, cx.waker().clone(), &ready)
                && !self.leaves_after_fence(waiter, &ready);
            if waits { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    /// A waiter that is not queued yet, for [`enqueue`](Self::enqueue).
    pub fn waiter(&self) -> Waiter<'_> {
        Waiter::new(&self.queue)
    }

    /// Queues `waiter` with `waker` and returns true, unless `ready` returns true; then it returns
    /// false. It is the part of [`wait`](Self::wait) before the sleep, for callers that wait
    /// repeatedly with one waiter. The point must have full fences.
    ///
    /// # Panics
    /// As [`Waiter::enqueue`]. With debug assertions, also if the waiter belongs to another point,
    /// or the point is [asymmetric](Self::asymmetric).
    pub fn enqueue(
        &self,
        waiter: Pin<&mut Waiter<'_>>,
        position: Position,
        waker: Waker,
        ready: impl FnOnce() -> bool,
    ) -> bool {
        debug_assert!(!self.light, "the waiter would sleep without a heavy fence");
        self.join(waiter, position, waker, ready)
    }

    fn join(
        &self,
        waiter: Pin<&mut Waiter<'_>>,
        position: Position,
        waker: Waker,
        ready: impl FnOnce() -> bool,
    ) -> bool {
        debug_assert!(waiter.is_of(&self.queue), "a waiter of another point");
        waiter.enqueue_among(position, waker, |others| {
            self.any.store(true, Ordering::Relaxed);
            if cfg!(loom) && self.light {
                // The models show that the heavy fence, and the check after it, suffice.
                return false;
            }
            // Ordering: SeqCst, between the flag and the last check; pairs with the notifier's
            // fence or exchange. (A notifier's light fence may still miss this waiter, hence
            // `leaves_after_fence`.)
            fence(Ordering::SeqCst);
            let ready = ready();
            if ready && !others {
                self.any.store(false, Ordering::Relaxed);
            }
            ready
        })
    }

    /// At an asymmetric point, a queued waiter fences and checks a last time. If it need not wait,
    /// it leaves the queue. Its return uses up a notification that has arrived meanwhile.
    ///
    /// The fence takes microseconds, so neither the fence nor the check is under the queue's lock.
    fn leaves_after_fence(&self, waiter: Pin<&mut Waiter<'_>>, ready: impl Fn() -> bool) -> bool {
        if !self.light {
            return false;
        }
        // Pairs with the light fence in `notify_one`. The flag was raised before.
        let _fence = asymmetric::heavy();
        let ready = ready();
        if ready {
            _ = waiter.cancel();
        }
        ready
    }
}

impl Default for WaitPoint {
    fn default() -> Self {
        Self::new()
    }
}

/// The waiter of a future. If dropped with a notification, it notifies another, whose waker may
/// panic: that panic is discarded, as in all notifications of the point.
struct Passing<'a, 'q> {
    point: &'q WaitPoint,
    waiter: Pin<&'a mut Waiter<'q>>,
}

impl Drop for Passing<'_, '_> {
    fn drop(&mut self) {
        let outcome = self.waiter.as_mut().cancel();
        if outcome == CancelOutcome::Notified(Permit::One) {
            self.point.notify_one_slow();
        }
    }
}
