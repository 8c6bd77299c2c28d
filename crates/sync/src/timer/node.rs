//! A timer: its pinned node and its operations.

use super::TimerQueue;
use super::heap::{ARMED, FIRED, Node};
use crate::wakers::let_go;
use sateen_base::prim::time::Instant;
use std::fmt;
use std::marker::PhantomPinned;
use std::ops::Deref;
use std::pin::Pin;
use std::ptr;
use std::task::Waker;

/// A timer of a [`TimerQueue`], which wakes a waker at a given time.
///
/// It is used pinned, on the waiter's stack or in its future, and may be armed any number of times.
/// If it is dropped while armed, it leaves the queue, on any thread.
///
/// See [`TimerQueue`] for an example.
pub struct Timer<Q: Deref<Target = TimerQueue>> {
    node: Node,
    /// The queue in which the node is or was armed: the target of `queue` at that time. It is not
    /// dereferenced again, because the result might differ.
    armed_in: *const TimerQueue,
    queue: Q,
    _pinned: PhantomPinned,
}

// SAFETY: the node is accessed under the queue's lock while it is armed, and otherwise by the
// owner; the waker in it is `Send`. `armed_in` points to a queue that `queue`, which moves along,
// keeps alive.
unsafe impl<Q: Deref<Target = TimerQueue> + Send> Send for Timer<Q> {}
// SAFETY: a shared timer only shows its atomic state.
unsafe impl<Q: Deref<Target = TimerQueue> + Sync> Sync for Timer<Q> {}

impl<Q: Deref<Target = TimerQueue>> Timer<Q> {
    /// A timer for `queue` that is not armed.
    pub fn new(queue: Q) -> Self {
        Self { node: Node::new(), armed_in: ptr::null(), queue, _pinned: PhantomPinned }
    }

    /// The handle to its queue.
    pub fn queue(&self) -> &Q {
        &self.queue
    }

    /// Arms it, or re-arms it for another time. `waker` is woken when the queue is fired after
    /// `deadline`. Returns true if it is now the earliest of the queue: then the thread that serves
    /// the queue must be told.
    ///
    /// On a [closed](TimerQueue::close) queue it is not armed.
    pub fn arm(mut self: Pin<&mut Self>, deadline: Instant, waker: Waker) -> bool {
        self.as_mut().disarm();
        // SAFETY: nothing is moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        let queue: *const TimerQueue = &raw const *this.queue;
        this.armed_in = queue;
        // SAFETY: `queue` stays borrowed, so its target stays in place until `Q` is moved or
        // dropped. The timer is pinned, and drops `Q` after the node has left. The same pinning
        // keeps the node in place.
        unsafe { (*queue).arm(&this.node, deadline, waker) }
    }

    /// Whether it has fired since it was last armed: its waker was woken, or is being woken.
    #[inline]
    pub fn has_fired(&self) -> bool {
        self.node.state() == FIRED
    }

    /// Whether it is in the queue.
    #[inline]
    pub fn is_armed(&self) -> bool {
        self.node.state() == ARMED
    }

    /// Replaces the waker, unless it wakes the same task. Returns false if the timer is not armed
    /// any more.
    pub fn set_waker(self: Pin<&mut Self>, waker: &Waker) -> bool {
        let this = self.into_ref().get_ref();
        if this.node.state() != ARMED {
            return false;
        }
        // Cloned and dropped outside of the lock. Only the owner replaces it, so checking first
        // costs a second check only when it changes.
        let same = this.with_waker(|own| own.will_wake(waker));
        match same {
            Some(true) => true,
            None => false,
            Some(false) => {
                let mut new = waker.clone();
                this.with_waker(|own| std::mem::swap(own, &mut new)).is_some()
            }
        }
    }

    /// Runs `f` on the waker under the lock, if it is armed.
    fn with_waker<R>(&self, f: impl FnOnce(&mut Waker) -> R) -> Option<R> {
        // SAFETY: the state was `ARMED` once, so `armed_in` is set, and valid as argued in `arm`.
        let queue = unsafe { &*self.armed_in };
        queue.locked(|_| {
            if self.node.state() != ARMED {
                return None;
            }
            // SAFETY: armed, and the lock is held.
            self.node.inner.with_mut(|inner| unsafe { (*inner).waker.as_mut().map(f) })
        })
    }

    /// Takes it out of the queue, if it is there; afterwards no waker is kept. Then
    /// [`has_fired`](Self::has_fired) tells whether it was too late.
    pub fn disarm(self: Pin<&mut Self>) {
        self.into_ref().get_ref().withdraw();
    }

    fn withdraw(&self) {
        if self.node.state() == ARMED {
            // SAFETY: armed, so `armed_in` is set, and valid as argued in `arm`.
            let_go(unsafe { (*self.armed_in).disarm(&self.node) });
        }
        // From here on only its owner uses the node, which the model checks.
        #[cfg(loom)]
        self.node.inner.with_mut(|_| ());
    }
}

impl<Q: Deref<Target = TimerQueue>> Drop for Timer<Q> {
    fn drop(&mut self) {
        self.withdraw();
    }
}

impl<Q: Deref<Target = TimerQueue>> fmt::Debug for Timer<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer")
            .field("armed", &self.is_armed())
            .field("fired", &self.has_fired())
            .finish_non_exhaustive()
    }
}
