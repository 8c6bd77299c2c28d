//! The one wait queue: an intrusive FIFO of wakers, with nodes on the waiters' own stacks.
//!
//! The protocol and its proof are in the crate's `README.md`, section *Wait queue*. Each of these
//! rules is kept by one place in this module:
//!
//! * A waker is cloned before the queue's lock is taken and dropped after it was released. It is
//!   taken out under the lock and woken afterwards. (Wakers poll inline, drop tasks, panic,
//!   re-enter.)
//! * A waiter learns of its notification only under the lock. So once it knows, its notifier has
//!   left the lock and touches nothing but the waker that it took.
//! * A waiter unlinks itself in `Drop`, on any thread; if it was notified, it passes the permit on.
//! * Nothing unwinds while the lock is held: panics of closures under it are caught, and resume
//!   after it.

mod list;
mod waiter;

pub use list::{Permit, Position};
pub use waiter::{CancelOutcome, Wait, Waiter};

use crate::sys::ShortLock;
use crate::wakers::{Batch, wake};
use list::List;
use sateen_base::prim::UnsafeCell;
use sateen_base::prim::time::Instant;
use sateen_base::unwind::FirstPanic;
use std::fmt;
use std::task::Waker;

/// A queue in which threads, fibers and futures wait for a condition that its owner defines. First
/// come, first notified. It is the base of every blocking primitive here.
///
/// The queue's lock orders everything: the condition is checked under it when a waiter joins, and a
/// notifier takes it after changing the condition. So either the waiter sees the change, or the
/// notifier sees the waiter. A primitive that skips the lock while there are no waiters keeps a
/// *waiters* bit in its own word, as [`Mutex`](crate::Mutex) and [`Event`](crate::Event) do.
///
/// # Cost
/// 32 bytes and the lock; two locked instructions for a notification without a waiter.
///
/// # Examples
///
/// ```
/// use sateen::sync::WaitQueue;
/// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// // A counter that can be waited for.
/// static LEFT: AtomicU32 = AtomicU32::new(3);
/// static WAITERS: WaitQueue = WaitQueue::new();
///
/// for _ in 0..3 {
///     std::thread::spawn(|| {
///         if LEFT.fetch_sub(1, SeqCst) == 1 {
///             WAITERS.notify_all();
///         }
///     });
/// }
/// WAITERS.wait_unless(|| LEFT.load(SeqCst) == 0);
/// assert_eq!(LEFT.load(SeqCst), 0);
/// ```
pub struct WaitQueue {
    lock: ShortLock,
    /// Accessed by the holder of `lock` only, as are all nodes linked in it.
    list: UnsafeCell<List>,
}

// SAFETY: the list's pointers refer to nodes of pinned waiters, which any thread that holds the
// lock may access. The wakers in them are `Send`. While waiters refer to the queue, it does not
// move.
unsafe impl Send for WaitQueue {}
// SAFETY: as above; every access takes the lock, which threads may share.
unsafe impl Sync for WaitQueue {}

/// The result of a notification, reported under the queue's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether a waiter was notified; its waker is woken once the lock is released.
    pub found: bool,
    /// Whether others are still queued.
    pub more: bool,
}

impl WaitQueue {
    crate::sys::const_except_loom! {
        /// An empty queue.
        pub const fn new() -> Self {
            Self { lock: ShortLock::new(), list: UnsafeCell::new(List::new()) }
        }
    }

    /// Blocks the caller (thread or fiber) until it is notified, unless `ready` returns true.
    ///
    /// `ready` runs once, under the queue's spinlock, so it should be short. If it blocks, all
    /// users of the queue wait for it; if it uses this queue, perhaps for ever. If it panics, the
    /// caller does not join, and the panic continues.
    ///
    /// A return means that the caller was notified, not that the condition still holds: loop. If
    /// [`park`](crate::park::park) unwinds, the wait is withdrawn.
    pub fn wait_unless(&self, ready: impl FnOnce() -> bool) {
        let mut waiter = std::pin::pin!(Waiter::new(self));
        let waker = crate::hook::current_waker();
        if waiter.as_mut().enqueue(Position::Back, waker, ready) {
            waiter.wait_joined(None);
        }
    }

    /// Like [`wait_unless`](Self::wait_unless), but until `deadline` at most. Returns false if the
    /// time ran out and the caller was not notified. Returns true if it was notified, even at the
    /// last moment, or `ready` held.
    ///
    /// ```
    /// # use std::time::Instant;
    /// let queue = sateen::sync::WaitQueue::new();
    /// assert!(!queue.wait_unless_until(Instant::now(), || false));
    /// assert!(queue.wait_unless_until(Instant::now(), || true));
    /// ```
    pub fn wait_unless_until(&self, deadline: Instant, ready: impl FnOnce() -> bool) -> bool {
        let mut waiter = std::pin::pin!(Waiter::new(self));
        let waker = crate::hook::current_waker();
        !waiter.as_mut().enqueue(Position::Back, waker, ready) || waiter.wait_joined(Some(deadline))
    }

    /// [`wait_unless`](Self::wait_unless) as a future. It joins the queue when first polled, and
    /// `ready` runs then. If dropped early, it leaves, and passes a received permit to the next
    /// waiter.
    ///
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// let queue = sateen::sync::WaitQueue::new();
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let mut wait = pin!(queue.wait_unless_async(|| false));
    /// assert_eq!(wait.as_mut().poll(&mut cx), Poll::Pending);
    /// assert!(queue.notify_one());
    /// assert_eq!(wait.as_mut().poll(&mut cx), Poll::Ready(()));
    /// ```
    pub fn wait_unless_async<F: FnOnce() -> bool>(&self, ready: F) -> Wait<'_, F> {
        Wait::new(self, ready)
    }

    /// Notifies the waiter at the front, and wakes its waker on this thread. Returns whether there
    /// was one.
    ///
    /// # Panics
    /// If the waker panics; the waiter is notified nevertheless.
    pub fn notify_one(&self) -> bool {
        self.notify_one_then(|_| ())
    }

    /// Like [`notify_one`](Self::notify_one), but runs `then` under the queue's lock, after the
    /// waiter was taken out and before any thread can see that. There a primitive changes its own
    /// word together with the queue.
    ///
    /// `then` must follow the rules of [`wait_unless`](Self::wait_unless).
    ///
    /// # Panics
    /// If `then` or the waker panics; the waiter is notified nevertheless.
    pub fn notify_one_with(&self, then: impl FnOnce(Outcome)) -> bool {
        /// Woken at the end, even if `then` unwinds.
        struct Notified(Option<Waker>);
        impl Drop for Notified {
            fn drop(&mut self) {
                if let Some(waker) = self.0.take() {
                    wake(waker);
                }
            }
        }
        let mut notified = Notified(None);
        self.locked_foreign(|list| {
            // SAFETY: the lock is held.
            notified.0 = unsafe { list.pop(Permit::One, u64::MAX) };
            then(Outcome { found: notified.0.is_some(), more: !list.is_empty() });
        });
        // The lock is free now, and the waiter may be gone: we own only its waker.
        let found = notified.0.is_some();
        drop(notified);
        found
    }

    /// The same for a `then` that does not unwind; unwinding would end the process.
    #[inline]
    pub(crate) fn notify_one_then(&self, then: impl FnOnce(Outcome)) -> bool {
        let waker = self.locked(|list| {
            // SAFETY: the lock is held.
            let waker = unsafe { list.pop(Permit::One, u64::MAX) };
            then(Outcome { found: waker.is_some(), more: !list.is_empty() });
            waker
        });
        let found = waker.is_some();
        // The lock is free now, and the waiter may be gone: we own only its waker.
        if let Some(waker) = waker {
            wake(waker);
        }
        found
    }

    /// Notifies all waiters present at the call, in order, and returns how many. Waiters that join
    /// meanwhile stay. The lock is held for sixteen waiters at a time.
    ///
    /// # Panics
    /// With the first panic of a waker, after all were notified and woken.
    pub fn notify_all(&self) -> usize {
        self.notify_all_with(|| ())
    }

    /// Like [`notify_all`](Self::notify_all), but runs `first` under the queue's lock before the
    /// first waiter is taken out. Exactly the waiters that joined before it ran are notified.
    ///
    /// `first` must follow the rules of [`wait_unless`](Self::wait_unless).
    ///
    /// # Panics
    /// As [`notify_all`](Self::notify_all); if `first` does, no waiter is notified.
    pub fn notify_all_with(&self, first: impl FnOnce()) -> usize {
        self.notify_all_if(|| {
            first();
            true
        })
    }

    /// The same, unless `first` returns false.
    pub(crate) fn notify_all_if(&self, first: impl FnOnce() -> bool) -> usize {
        self.notify_all_among(|_| first())
    }

    /// The same for a `first` that is told whether waiters are queued.
    #[inline]
    pub(crate) fn notify_all_among(&self, first: impl FnOnce(bool) -> bool) -> usize {
        let (mut batch, mut panics) = (Batch::new(), FirstPanic::default());
        let mut limit = 0;
        self.locked_foreign(|list| {
            if first(!list.is_empty()) {
                limit = list.next_ticket();
                list.fill(&mut batch, limit);
            }
        });
        let mut count = 0;
        loop {
            let full = batch.is_full();
            count += batch.wake_all(&mut panics);
            if !full {
                break;
            }
            self.locked(|list| list.fill(&mut batch, limit));
        }
        panics.resume();
        count
    }

    /// Runs `f` under the queue's lock, for primitives whose own state it guards. `f` must follow
    /// the rules of [`wait_unless`](Self::wait_unless).
    pub(crate) fn under_lock<R>(&self, f: impl FnOnce() -> R) -> R {
        self.locked(|_| f())
    }

    /// Whether there are no waiters, at some moment during the call. Takes the lock.
    pub fn is_empty(&self) -> bool {
        self.locked(|list| list.is_empty())
    }

    /// Runs `f` on the list under the lock. `f` may call foreign code, which may unwind, while the
    /// list is consistent.
    #[inline]
    fn locked_foreign<R>(&self, f: impl FnOnce(&mut List) -> R) -> R {
        self.lock.with_foreign(|| {
            // SAFETY: the lock is held until after the last use of the reference.
            self.list.with_mut(|list| f(unsafe { &mut *list }))
        })
    }

    /// Runs `f` on the list under the lock; `f` must not unwind.
    #[inline]
    fn locked<R>(&self, f: impl FnOnce(&mut List) -> R) -> R {
        self.lock.with(|| {
            // SAFETY: the lock is held until after the last use of the reference.
            self.list.with_mut(|list| f(unsafe { &mut *list }))
        })
    }
}

impl Default for WaitQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for WaitQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitQueue").finish_non_exhaustive()
    }
}
