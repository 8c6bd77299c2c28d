//! The waiting point: announce, fence, look again, sleep. Protocol and proof: the crate's
//! `README.md`, section *Waiting point*.
//!
//! | `any` | meaning | leaves it |
//! |---|---|---|
//! | false | no waiter must be told | a waiter that joins, before its last look |
//! | true | there may be waiters | notifier: takes out the last, or all; waiter: alone and ready |
//!
//! The flag changes under the queue's lock only, and is read without it.

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

/// Where threads, fibers and futures wait for a change that others make without a lock.
///
/// A waiter announces itself, fences, looks again, and sleeps. A notifier makes its change, fences,
/// and looks whether a waiter is announced. So either the waiter sees the change or the notifier
/// sees the waiter, and a notifier without waiters takes no lock.
///
/// | Point | Notifier without waiters | Waiter |
/// |---|---|---|
/// | [`new`](Self::new) | a full fence, a load | a full fence |
/// | [`new`](Self::new), `notify_one_unfenced` | a load, after an exchange | a full fence |
/// | [`asymmetric`](Self::asymmetric) | a load | a heavy fence ([`sateen_base::fence`]) |
///
/// The last is for points that are notified much more often than waited at. A wait also takes the
/// queue's spinlock.
///
/// The point is not padded: notifiers read it often, so it belongs apart from what others write
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

    /// A point whose notifiers fence for free and whose waiters pay. Where the system has no such
    /// fences, the same as [`new`](Self::new).
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
    /// A panic of its waker stops here: the caller may hold an item that it would lose.
    #[inline]
    pub fn notify_one(&self) {
        if self.light {
            asymmetric::light();
        } else {
            // Ordering: SeqCst, with the fence of the waiter: either that waiter sees the
            // change, or this thread sees that it waits.
            fence(Ordering::SeqCst);
        }
        if self.has_waiters() {
            self.notify_one_slow();
        }
    }

    /// [`notify_one`](Self::notify_one) for a caller whose change was a sequentially consistent
    /// exchange, or that has issued a full fence since.
    #[inline(always)]
    pub fn notify_one_unfenced(&self) {
        self.notify_one_unless(|| false);
    }

    /// The same, unless `others` will see to it that no waiter is left that could go on. They look
    /// for the change after they have been counted here.
    #[inline(always)]
    pub fn notify_one_unless(&self, others: impl FnOnce() -> bool) {
        if cfg!(loom) {
            // The model takes sequentially consistent accesses for acquire and release; it orders
            // by its fences.
            fence(Ordering::SeqCst);
        }
        // Ordering: SeqCst, after the caller's exchange; pairs with the fence in `join`. Either
        // this load sees the flag, or the last look there sees the change.
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
    /// Panics of their wakers stop here.
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

    /// Waits until notified or until `deadline`, unless `ready` says that there is no need. Blocks
    /// the thread, or suspends the fiber. May return for no reason: call it in a loop.
    ///
    /// The return may have been a notification, which no other waiter gets then. So a caller that
    /// wants to give up, after `deadline` for example, first looks once more for the change, or
    /// calls [`notify_one`](Self::notify_one).
    ///
    /// `ready` reads what the notifiers change. It runs under a spinlock, bound by the rules of
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
        // That look held no lock: it may have waited itself, and have taken our token.
        match deadline {
            Some(deadline) => _ = waiter.wait_until(deadline),
            None => waiter.wait(),
        }
    }

    /// [`wait`](Self::wait) without a limit, as a future. Dropped early it passes its notification
    /// on.
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

    /// Queues `waiter` with `waker` and returns true, unless `ready` returns true: then false. It
    /// is the part of [`wait`](Self::wait) before the sleep, for callers that wait again and again
    /// with one waiter. The point has full fences.
    ///
    /// # Panics
    /// As [`Waiter::enqueue`]. With debug assertions, if the waiter is another point's, or the
    /// point [asymmetric](Self::asymmetric).
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
                // The models show that the heavy fence, and the look after it, are enough.
                return false;
            }
            // Ordering: SeqCst, between the flag and the last look; pairs with the notifier's
            // fence or exchange. (A light fence of a notifier may miss this waiter all the
            // same: hence `leaves_after_fence`.)
            fence(Ordering::SeqCst);
            let ready = ready();
            if ready && !others {
                self.any.store(false, Ordering::Relaxed);
            }
            ready
        })
    }

    /// At an asymmetric point: a queued waiter fences, and looks a last time. If it need not wait,
    /// it leaves the queue. A notification that has come meanwhile is used by its return.
    ///
    /// The fence takes microseconds, so neither it nor the look is under the queue's lock.
    fn leaves_after_fence(&self, waiter: Pin<&mut Waiter<'_>>, ready: impl Fn() -> bool) -> bool {
        if !self.light {
            return false;
        }
        // Pairs with the light fence in `notify_one`, see there. The flag was raised before.
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

/// The waiter of a future. Dropped with a notification, it notifies another, whose waker may panic:
/// the panic stops here, as in all notifications of the point.
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
