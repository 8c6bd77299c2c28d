//! One operation of a selection while it waits.

use super::token::Token;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicUsize;
use sateen_sync::WaitPoint;
use sateen_sync::park;
use sateen_sync::wait_queue::{CancelOutcome, Permit, Position, Waiter};
use std::pin::Pin;
use std::sync::Arc;

/// An operation that waits. Dropped, it waits no longer, and passes a permit that it does not need
/// on to the next waiter.
#[doc(hidden)]
pub trait Wait {
    /// Whether it was woken since it waits.
    fn is_woken(self: Pin<&mut Self>) -> bool;

    /// Another thread has claimed it: stores its result in the token. False if there is none after
    /// all.
    fn complete(self: Pin<&mut Self>, _: &mut Token) -> bool {
        false
    }

    /// Keeps a permit from being passed on: its item or room is used, or gone.
    fn keep_permit(self: Pin<&mut Self>);
}

/// An operation that waits for the clock, or for nothing.
pub(super) struct Idle;

impl Wait for Idle {
    fn is_woken(self: Pin<&mut Self>) -> bool {
        false
    }

    fn keep_permit(self: Pin<&mut Self>) {}
}

/// An operation that waits among others at one end of a channel.
pub(super) struct Queued<'a> {
    waiter: Waiter<'a>,
    waiters: &'a WaitPoint,
    /// A permit that was taken and neither used nor passed on.
    permit: bool,
}

impl<'a> Queued<'a> {
    /// `None` if `ready` holds.
    pub(super) fn join(
        waiters: &'a WaitPoint,
        ready: impl FnOnce() -> bool,
    ) -> Option<Pin<Box<dyn Wait + 'a>>> {
        let mut queued = Box::pin(Self { waiter: waiters.waiter(), waiters, permit: false });
        let joined =
            waiters.enqueue(queued.as_mut().waiter(), Position::Back, park::current_waker(), ready);
        joined.then_some(queued as _)
    }

    fn waiter(self: Pin<&mut Self>) -> Pin<&mut Waiter<'a>> {
        // SAFETY: the waiter is pinned with `self`, and never moved.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiter) }
    }

    /// Leaves the queue; takes a permit along.
    fn leave(mut self: Pin<&mut Self>) {
        let permit = self.as_mut().waiter().cancel() == CancelOutcome::Notified(Permit::One);
        // SAFETY: a plain value, not pinned.
        unsafe { self.get_unchecked_mut() }.permit |= permit;
    }
}

impl Wait for Queued<'_> {
    fn is_woken(mut self: Pin<&mut Self>) -> bool {
        if let Some(permit) = self.as_mut().waiter().take_permit() {
            // SAFETY: a plain value, not pinned.
            unsafe { self.as_mut().get_unchecked_mut() }.permit |= permit == Permit::One;
            return true;
        }
        false
    }

    fn keep_permit(mut self: Pin<&mut Self>) {
        self.as_mut().leave();
        // SAFETY: as above.
        unsafe { self.get_unchecked_mut() }.permit = false;
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        // SAFETY: pinned if it was ever queued, and nothing moves before the end of the drop.
        unsafe { Pin::new_unchecked(&mut *self) }.leave();
        if self.permit {
            self.waiters.notify_one_unfenced();
        }
    }
}

/// Which case of a selection a peer has claimed, if any.
///
/// | word | meaning | leaves it |
/// |---|---|---|
/// | `OPEN` | a peer that meets one of the cases may claim it | claimant; owner: `close` |
/// | `CLOSED` | the owner has stopped waiting | |
/// | `FIRST` + n | case n is claimed, for good | |
#[derive(Debug)]
pub(super) struct Selection(AtomicUsize);

impl Selection {
    const OPEN: usize = 0;
    const CLOSED: usize = 1;
    const FIRST: usize = 2;

    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(Self::OPEN))
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::OPEN
    }

    /// Claims case `index`, if nothing is claimed or closed.
    pub(super) fn claim(&self, index: usize) -> bool {
        // Relaxed: what the two sides exchange goes through the lock of their channel.
        let (open, claimed) = (Self::OPEN, Self::FIRST + index);
        self.0.compare_exchange(open, claimed, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The claimed case, if there is one.
    pub(super) fn claimed(&self) -> Option<usize> {
        self.0.load(Ordering::Relaxed).checked_sub(Self::FIRST)
    }

    /// Ends the time for claims; returns the case that was claimed before, if there is one.
    pub(super) fn close(&self) -> Option<usize> {
        // Relaxed: as in `claim`.
        let order = Ordering::Relaxed;
        match self.0.compare_exchange(Self::OPEN, Self::CLOSED, order, order) {
            Ok(_) => None,
            Err(word) => word.checked_sub(Self::FIRST),
        }
    }
}

/// One case of a selection, by which a peer claims the whole.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Case {
    pub(super) selection: Arc<Selection>,
    pub(super) index: usize,
}
