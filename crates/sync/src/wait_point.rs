//! The waiting point: announce, fence, look again, sleep. Protocol and proof: the crate's
//! `README.md`, section *Waiting point*.
//!
//! The word `waiting` counts the waiters that have announced themselves and were not notified yet.
//! A waiter raises it before anything else, and lowers it when it leaves without a notification. A
//! notifier lowers it for the waiter that it notifies.

use crate::hook::current_waker;
use crate::wait_queue::{CancelOutcome, Position, WaitQueue, Waiter};
use sateen_base::prim::searched::AtomicUsize;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Ordering, fence};
use sateen_base::unwind::run_and_discard;
use sateen_base::{CachePadded, canary, fence as asymmetric};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

/// The longest wait that is announced without the fence that interrupts other threads.
const PROVISIONAL: Duration = Duration::from_micros(100);

/// Where threads, fibers and futures wait for a change that others make without a lock.
///
/// A waiter announces itself, fences, looks again, and sleeps. A notifier makes its change, fences,
/// and looks whether a waiter is announced. So either the waiter sees the change or the notifier
/// sees the waiter, and a notifier without waiters takes no lock.
///
/// The caller chooses the fences: [`new`](Self::new) issues full ones on both sides;
/// [`asymmetric`](Self::asymmetric) makes the notifier's free and the waiter's heavy
/// ([`sateen_base::fence`]), for points that are notified much more often than waited at.
///
/// # Cost
///
/// A notification without waiters is a fence and a load. A wait is two locked instructions on the
/// count, and the queue's spinlock.
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
    waiting: CachePadded<AtomicUsize>,
    queue: WaitQueue,
    /// Whether the notifier's fence is light, and the waiter's heavy.
    light: bool,
}

impl WaitPoint {
    /// A point with full fences on both sides.
    pub fn new() -> Self {
        Self {
            waiting: CachePadded::new(AtomicUsize::new(0)),
            queue: WaitQueue::new(),
            light: false,
        }
    }

    /// A point whose notifiers fence for free and whose waiters pay. Where the system has no such
    /// fences, the same as [`new`](Self::new).
    pub fn asymmetric() -> Self {
        Self { light: cfg!(loom) || asymmetric::is_asymmetric(), ..Self::new() }
    }

    /// Whether a waiter is announced: a hint.
    #[inline(always)]
    pub fn has_waiters(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// Wakes one waiter, if there is one, after a change that one of them waits for.
    ///
    /// A panic of its waker stops here: the caller may hold an item that it would lose.
    #[inline]
    pub fn notify_one(&self) {
        if !canary!("wait_point_notify_unfenced") {
            if self.light {
                asymmetric::light();
            } else {
                // Ordering: SeqCst, with the fence of the waiter: either that waiter sees the
                // change, or this thread sees that it waits.
                fence(Ordering::SeqCst);
            }
        }
        if self.has_waiters() {
            _ = self.notify_one_slow();
        }
    }

    /// Whether there was a waiter.
    #[cold]
    fn notify_one_slow(&self) -> bool {
        let mut found = false;
        let mut notify = || {
            self.queue.notify_one_with(|outcome| {
                if outcome.found {
                    self.waiting.fetch_sub(1, Ordering::Relaxed);
                }
                found = outcome.found;
            })
        };
        if cfg!(loom) {
            // A model that fails panics everywhere.
            notify();
        } else {
            run_and_discard(&mut notify);
        }
        found
    }

    /// Wakes all announced waiters, after a change that all wait for.
    #[inline]
    pub fn notify_all(&self) {
        if !canary!("wait_point_notify_unfenced") {
            // Ordering: SeqCst as in `notify_one`.
            fence(Ordering::SeqCst);
        }
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting != 0 {
            self.notify_all_slow(waiting);
        }
    }

    /// A waiter that announces itself after the notifier's fence sees the change; the queue is in
    /// order, so those announced before come first.
    #[cold]
    fn notify_all_slow(&self, waiting: usize) {
        for _ in 0..waiting {
            if !self.notify_one_slow() {
                break;
            }
        }
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
        let mut waiter = pin!(Waiter::new(&self.queue));
        let mut announced = Announced::new(self, waiter.as_mut());
        if self.light && !cfg!(loom) {
            let soon = Instant::now() + PROVISIONAL;
            // Ordering: SeqCst; a notifier that uses the light fence may miss this waiter all the
            // same, hence the time limit.
            fence(Ordering::SeqCst);
            let first = deadline.map_or(soon, |deadline| deadline.min(soon));
            if !announced.enqueue(&ready) || announced.sleep_until(first) || deadline == Some(first)
            {
                return;
            }
        }
        self.waiters_fence();
        if announced.enqueue(&ready) {
            match deadline {
                Some(deadline) => _ = announced.sleep_until(deadline),
                None => announced.sleep(),
            }
        }
    }

    /// [`wait`](Self::wait) without a limit, as a future. Dropped early it passes its notification
    /// on.
    pub async fn wait_async(&self, ready: impl Fn() -> bool) {
        let mut waiter = pin!(Waiter::new(&self.queue));
        let mut announced = Announced::new(self, waiter.as_mut());
        self.waiters_fence();
        let mut queued = false;
        poll_fn(|cx| {
            if !queued {
                let waker = cx.waker().clone();
                if !announced.waiter.as_mut().enqueue(Position::Back, waker, &ready) {
                    return Poll::Ready(());
                }
                queued = true;
            }
            let notified = announced.waiter.as_mut().poll_wait(cx);
            announced.notified = notified.is_ready();
            notified
        })
        .await;
    }

    /// Between the announcement and the last look.
    fn waiters_fence(&self) {
        if canary!("wait_point_wait_unfenced") {
            return;
        }
        if self.light {
            // Pairs with the light fence in `notify_one`, see there.
            let _fence = asymmetric::heavy();
        } else {
            // Ordering: SeqCst, with the fence in `notify_one`.
            fence(Ordering::SeqCst);
        }
    }
}

impl Default for WaitPoint {
    fn default() -> Self {
        Self::new()
    }
}

/// A waiter that counts in `waiting` until it is notified.
struct Announced<'a, 'q> {
    point: &'q WaitPoint,
    waiter: Pin<&'a mut Waiter<'q>>,
    notified: bool,
}

impl<'a, 'q> Announced<'a, 'q> {
    fn new(point: &'q WaitPoint, waiter: Pin<&'a mut Waiter<'q>>) -> Self {
        // Relaxed: the fences after it order it.
        point.waiting.fetch_add(1, Ordering::Relaxed);
        Self { point, waiter, notified: false }
    }

    /// Joins the queue; false if `ready` says that there is no need.
    fn enqueue(&mut self, ready: &impl Fn() -> bool) -> bool {
        self.waiter.as_mut().enqueue(Position::Back, current_waker(), ready)
    }

    fn sleep(&mut self) {
        self.waiter.as_mut().wait();
        self.notified = true;
    }

    /// Whether it was notified.
    fn sleep_until(&mut self, deadline: Instant) -> bool {
        self.notified = self.waiter.as_mut().wait_until(deadline);
        self.notified
    }
}

impl Drop for Announced<'_, '_> {
    fn drop(&mut self) {
        if self.notified {
            return;
        }
        match self.waiter.as_mut().cancel() {
            // Notified, and dropped before it noticed: another waiter is notified instead.
            CancelOutcome::Notified(_) => {
                if !canary!("wait_point_drop_forgets") {
                    self.point.notify_one();
                }
            }
            CancelOutcome::Idle | CancelOutcome::Withdrawn => {
                self.point.waiting.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}
