//! One operation of a selection while it waits.

use super::token::Token;
use super::waiters::Waiters;
use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicUsize;
use sateen_sync::park;
use sateen_sync::wait_queue::{Cancelled, Permit, Place, Waiter};
use std::pin::Pin;
use std::sync::Arc;

/// An operation that waits; dropped, it waits no longer, and whom it was woken instead of is woken.
#[doc(hidden)]
pub trait Wait {
    /// Whether it was woken since it waits.
    fn is_woken(self: Pin<&mut Self>) -> bool;

    /// It was claimed: its result; false if there is none after all.
    fn complete(self: Pin<&mut Self>, _: &mut Token) -> bool {
        false
    }

    /// What it was woken for is used, or gone: nobody is to be woken instead.
    fn settle(self: Pin<&mut Self>);
}

/// One that waits for the clock, or for nothing.
pub(super) struct Idle;

impl Wait for Idle {
    fn is_woken(self: Pin<&mut Self>) -> bool {
        false
    }

    fn settle(self: Pin<&mut Self>) {}
}

/// One that waits among others at one end of a channel.
pub(super) struct Queued<'a> {
    waiter: Waiter<'a>,
    waiters: &'a Waiters,
    /// A permit that was taken and neither used nor passed on.
    permit: bool,
}

impl<'a> Queued<'a> {
    /// `None` if `ready` holds.
    pub(super) fn join(
        waiters: &'a Waiters,
        ready: impl FnOnce() -> bool,
    ) -> Option<Pin<Box<dyn Wait + 'a>>> {
        let mut queued = Box::pin(Self { waiter: waiters.waiter(), waiters, permit: false });
        let joined =
            waiters.join(queued.as_mut().waiter(), Place::Back, park::current_waker(), ready);
        joined.then_some(queued as _)
    }

    fn waiter(self: Pin<&mut Self>) -> Pin<&mut Waiter<'a>> {
        // SAFETY: the waiter is pinned with us, and never moved.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiter) }
    }

    /// Leaves the queue, keeping a permit.
    fn leave(mut self: Pin<&mut Self>) {
        let permit = self.as_mut().waiter().cancel() == Cancelled::Notified(Permit::One);
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

    fn settle(mut self: Pin<&mut Self>) {
        self.as_mut().leave();
        // SAFETY: as above.
        unsafe { self.get_unchecked_mut() }.permit = false;
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        // SAFETY: we are pinned if we ever queued, and nothing moves before the end of the drop.
        unsafe { Pin::new_unchecked(&mut *self) }.leave();
        if self.permit && !canary!("channel_permit_dropped") {
            self.waiters.notify_one();
        }
    }
}

/// Which operation of a selection has been claimed by another party, if any.
///
/// | word | meaning | leaves it |
/// |---|---|---|
/// | `OPEN` | whoever meets one of the operations may claim the selection | claimant; owner: `close` |
/// | `CLOSED` | the owner has stopped waiting | |
/// | `FIRST` + n | operation n is claimed, for good | |
#[derive(Debug)]
pub(super) struct Claim(AtomicUsize);

impl Claim {
    const OPEN: usize = 0;
    const CLOSED: usize = 1;
    const FIRST: usize = 2;

    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(Self::OPEN))
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::OPEN
    }

    /// Claims operation `index`, if nothing is claimed or closed.
    pub(super) fn claim(&self, index: usize) -> bool {
        // Relaxed: what the parties exchange goes through the lock of their channel.
        let (open, claimed) = (Self::OPEN, Self::FIRST + index);
        self.0.compare_exchange(open, claimed, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The claimed operation, if one is.
    pub(super) fn claimed(&self) -> Option<usize> {
        self.0.load(Ordering::Relaxed).checked_sub(Self::FIRST)
    }

    /// Lets nobody claim it any more; the operation that was claimed before, if one was.
    pub(super) fn close(&self) -> Option<usize> {
        // Relaxed: as in `claim`.
        let order = Ordering::Relaxed;
        match self.0.compare_exchange(Self::OPEN, Self::CLOSED, order, order) {
            Ok(_) => None,
            Err(word) => word.checked_sub(Self::FIRST),
        }
    }
}

/// An operation's share in its selection's claim.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Share {
    pub(super) claim: Arc<Claim>,
    pub(super) index: usize,
}
