//! A waiter: its pinned node and its operations.

use super::WaitQueue;
use super::list::{List, Node, NodeCell, Permit, Position, State};
use crate::wakers::let_go;
use sateen_base::prim::time::Instant;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

/// A waiter of a [`WaitQueue`], for primitives that need more than
/// [`wait_unless`](WaitQueue::wait_unless): rejoining at the front, or acting on a cancelled wait.
///
/// It is used pinned, on a stack or in a future, and can wait any number of times in a row. A
/// waiter that is dropped while queued leaves the queue. If it is dropped with a permit of
/// [`notify_one`](WaitQueue::notify_one) that it never took, it notifies the next.
///
/// ```
/// use sateen::sync::wait_queue::{Position, WaitQueue, Waiter};
/// use std::{pin::pin, task::Waker};
///
/// let queue = WaitQueue::new();
/// let (mut a, mut b) = (pin!(Waiter::new(&queue)), pin!(Waiter::new(&queue)));
/// a.as_mut().enqueue(Position::Back, Waker::noop().clone(), || false);
/// b.as_mut().enqueue(Position::Front, Waker::noop().clone(), || false);
/// queue.notify_one();
/// assert!(b.as_mut().take_permit().is_some());
/// assert!(a.as_mut().take_permit().is_none());
/// ```
pub struct Waiter<'q> {
    queue: &'q WaitQueue,
    /// Accessed under the queue's lock while `involved`, by the owner alone otherwise.
    node: NodeCell,
    /// Owner only: whether the node is queued, or holds a notification not taken yet.
    involved: Cell<bool>,
    _pinned: PhantomPinned,
}

// SAFETY: the node is accessed under the queue's lock or by the owner; the waker in it is `Send`.
// The waiter moves between threads only as a whole (before it is pinned) or by its owner's
// `Pin<&mut _>`. Threads may share the lock.
unsafe impl Send for Waiter<'_> {}

/// The result of [`Waiter::cancel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It was not waiting.
    Idle,
    /// It waited, and has left the queue.
    Withdrawn,
    /// It had been notified: the caller now owns the permit, to use or to pass on.
    Notified(Permit),
}

impl<'q> Waiter<'q> {
    /// A waiter that is not waiting yet.
    pub fn new(queue: &'q WaitQueue) -> Self {
        Self {
            queue,
            node: NodeCell::new(Node::new()),
            involved: Cell::new(false),
            _pinned: PhantomPinned,
        }
    }

    /// Whether it waits in `queue`.
    pub(crate) fn is_of(&self, queue: &WaitQueue) -> bool {
        std::ptr::eq(self.queue, queue)
    }

    /// Whether it has joined and has not yet taken its permit.
    pub fn is_waiting(&self) -> bool {
        self.involved.get()
    }

    /// Joins the queue with `waker` and returns true, unless `ready` returns true; then it returns
    /// false.
    ///
    /// `ready` runs under the queue's lock, by the rules of
    /// [`wait_unless`](WaitQueue::wait_unless).
    ///
    /// # Panics
    /// If it already waits, or holds a permit that was not taken. If `ready` panics; then it does
    /// not wait.
    pub fn enqueue(
        self: Pin<&mut Self>,
        position: Position,
        waker: Waker,
        ready: impl FnOnce() -> bool,
    ) -> bool {
        self.enqueue_among(position, waker, |_| ready())
    }

    /// The same for a `ready` that is told whether others are queued.
    pub(crate) fn enqueue_among(
        self: Pin<&mut Self>,
        position: Position,
        waker: Waker,
        ready: impl FnOnce(bool) -> bool,
    ) -> bool {
        let this = self.into_ref().get_ref();
        assert!(!this.involved.get(), "a waiter cannot wait twice at once");
        // SAFETY: not involved, so the node is ours alone.
        this.node.with_mut(|node| unsafe { (*node).waker = Some(waker) });
        let join = |list: &mut List, ready: bool| {
            if !ready {
                // SAFETY: the node is idle and unlinked. It is pinned, and `drop` unlinks it, so it
                // stays valid and in place while it is linked. The lock is held.
                unsafe { list.push(NonNull::from(&this.node), position) };
            }
            !ready
        };
        // (If `ready` unwinds, the waker stays in the idle node until the next wait, or the end.)
        let queued = this.queue.locked_foreign(|list| {
            let ready = ready(!list.is_empty());
            join(list, ready)
        });
        this.involved.set(queued);
        if !queued {
            // SAFETY: it was not linked, so we still own the node alone.
            let unused = this.node.with_mut(|node| unsafe { (*node).waker.take() });
            // No lock is held. The caller must get what `ready` has taken, so no panic may
            // interfere.
            let_go(unused);
        }
        queued
    }

    /// Returns the permit if it was notified since it joined; it is then idle.
    pub fn take_permit(self: Pin<&mut Self>) -> Option<Permit> {
        let this = self.into_ref().get_ref();
        if !this.involved.get() {
            return None;
        }
        this.queue.locked(|_| this.take_notified())
    }

    /// Parks the calling context until this waiter is notified, and takes the permit. It must have
    /// joined with [`current_waker`](crate::park::current_waker) of this context.
    ///
    /// Returns at once if it is not waiting.
    pub fn wait(mut self: Pin<&mut Self>) {
        if self.as_mut().take_permit().is_none() {
            self.wait_joined(None);
        }
    }

    /// Like [`wait`](Self::wait), but until `deadline` at most. Returns true if it was notified,
    /// even at the last moment; the permit is taken. Returns false if the time ran out; it has then
    /// left the queue.
    ///
    /// A deadline in the past costs one check of the queue.
    ///
    /// ```
    /// use sateen::sync::{WaitQueue, park, wait_queue::{Position, Waiter}};
    /// use std::{pin::pin, time::Instant};
    ///
    /// let queue = WaitQueue::new();
    /// let mut waiter = pin!(Waiter::new(&queue));
    /// waiter.as_mut().enqueue(Position::Back, park::current_waker(), || false);
    /// assert!(!waiter.as_mut().wait_until(Instant::now()));
    /// assert!(!queue.notify_one());
    /// ```
    pub fn wait_until(mut self: Pin<&mut Self>, deadline: Instant) -> bool {
        self.as_mut().take_permit().is_some() || self.wait_joined(Some(deadline))
    }

    /// Like [`wait_until`](Self::wait_until), for a caller that has done nothing since it joined.
    /// If it was notified, it still has the token, which another wait in between might have
    /// consumed. This saves a lock.
    #[doc(hidden)]
    pub fn wait_joined(mut self: Pin<&mut Self>, deadline: Option<Instant>) -> bool {
        // The last check and leaving are one step under the lock, so no permit is lost in between.
        self.as_mut().rest_joined(deadline) || matches!(self.cancel(), CancelOutcome::Notified(_))
    }

    /// The same, but it stays in the queue when the time runs out.
    pub(crate) fn rest_joined(mut self: Pin<&mut Self>, deadline: Option<Instant>) -> bool {
        while self.involved.get() {
            // Park first, then check: a notifier also wakes, so a wait costs one check and one
            // lock.
            match deadline {
                Some(deadline) => crate::hook::park_until(deadline),
                None => crate::hook::park(),
            }
            if self.as_mut().take_permit().is_some() {
                return true;
            }
            if deadline.is_some_and(crate::sys::has_passed) {
                return false;
            }
        }
        true
    }

    /// Ready with the permit taken, or pending with the waker of `cx` in the queue.
    ///
    /// Ready at once if it is not waiting.
    pub fn poll_wait(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_permit(cx).map(drop)
    }

    /// The same, returning the permit; `None` if it was not waiting.
    pub(crate) fn poll_permit(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Permit>> {
        let this = self.into_ref().get_ref();
        if !this.involved.get() {
            return Poll::Ready(None);
        }
        // `will_wake` compares pointers and runs no foreign code, so it may be called under the
        // lock.
        let current = this.queue.locked(|_| match this.take_notified() {
            Some(permit) => Err(permit),
            // SAFETY: the lock is held.
            None => Ok(this.node.with(|node| unsafe {
                (*node).waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
            })),
        });
        match current {
            Err(permit) => Poll::Ready(Some(permit)),
            Ok(true) => Poll::Pending,
            Ok(false) => this.replace_waker(cx.waker().clone()),
        }
    }

    fn replace_waker(&self, waker: Waker) -> Poll<Option<Permit>> {
        let (state, unused) = self.queue.locked(|_| {
            if let Some(permit) = self.take_notified() {
                return (Poll::Ready(Some(permit)), Some(waker));
            }
            // SAFETY: the lock is held.
            let old = self.node.with_mut(|node| unsafe { (*node).waker.replace(waker) });
            (Poll::Pending, old)
        });
        // No lock is held here: dropping a waker may run any code. A panic must not lose the
        // permit.
        let_go(unused);
        state
    }

    /// Under the lock: becomes idle if it was notified.
    fn take_notified(&self) -> Option<Permit> {
        // SAFETY: the callers hold the lock.
        self.node.with_mut(|node| unsafe {
            let State::Notified(permit) = (*node).state else { return None };
            (*node).state = State::Idle;
            self.involved.set(false);
            Some(permit)
        })
    }

    /// Stops waiting. Afterwards no waker of this wait is kept.
    pub fn cancel(self: Pin<&mut Self>) -> CancelOutcome {
        self.into_ref().get_ref().withdraw()
    }

    fn withdraw(&self) -> CancelOutcome {
        if !self.involved.get() {
            return CancelOutcome::Idle;
        }
        let (result, waker) = self.queue.locked(|list| {
            if let Some(permit) = self.take_notified() {
                return (CancelOutcome::Notified(permit), None);
            }
            // SAFETY: involved and not notified, so it is linked in this list; the lock is held.
            unsafe {
                list.unlink(NonNull::from(&self.node));
                (
                    CancelOutcome::Withdrawn,
                    self.node.with_mut(|node| {
                        (*node).state = State::Idle;
                        (*node).waker.take()
                    }),
                )
            }
        });
        self.involved.set(false);
        // The caller must complete the rest of leaving, so no panic may interfere.
        let_go(waker);
        result
    }
}

impl Waiter<'_> {
    /// Dropped in the middle of a wait.
    #[cold]
    fn drop_slow(&self) {
        let result = self.withdraw();
        if result == CancelOutcome::Notified(Permit::One) {
            self.queue.notify_one();
        }
    }
}

impl Drop for Waiter<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.involved.get() {
            self.drop_slow();
        }
    }
}

impl fmt::Debug for Waiter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").finish_non_exhaustive()
    }
}

/// The future of [`WaitQueue::wait_unless_async`].
#[must_use = "futures do nothing unless polled"]
pub struct Wait<'q, F> {
    waiter: Waiter<'q>,
    /// Until the first poll.
    ready: Option<F>,
}

impl<'q, F> Wait<'q, F> {
    pub(super) fn new(queue: &'q WaitQueue, ready: F) -> Self {
        Self { waiter: Waiter::new(queue), ready: Some(ready) }
    }
}

impl<F: FnOnce() -> bool> Future for Wait<'_, F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: `waiter` is pinned with us and never moved; `ready` is not pinned and may be.
        let (mut waiter, ready) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.waiter), &mut this.ready)
        };
        let Some(ready) = ready.take() else { return waiter.poll_wait(cx) };
        if waiter.as_mut().enqueue(Position::Back, cx.waker().clone(), ready) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

impl<F> fmt::Debug for Wait<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait").field("waiter", &self.waiter).finish_non_exhaustive()
    }
}
