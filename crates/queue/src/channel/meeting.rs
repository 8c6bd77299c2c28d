//! Where two parties meet on a channel without a buffer, and the lists of those who wait for one.
//!
//! Who may touch what: everything but `settled` is accessed under the channel's lock. A list owns a count of each
//! meeting in it; the party that waits owns another.

use super::wait::{Claim, Share};
use sateen_base::prim::searched::AtomicBool;
use sateen_base::prim::{Ordering, UnsafeCell};
use sateen_base::unwind::{discard, run_to_end};
use std::ptr;
use std::sync::Arc;
use std::task::Waker;

/// How far a meeting has come.
///
/// | phase | in a list | item | leaves it |
/// |---|---|---|---|
/// | `Listed` | yes | a sender's, but not if it comes `later` | peer: `Done`, or `Matched` if the item comes later; owner: withdraws, `Idle`; disconnection: `Idle` |
/// | `Idle` | no | a sender's own again | |
/// | `Matched` | of promised ones | none yet | sender: `Done`; receiver: `Left`; disconnection: `Idle` |
/// | `Done` | no | the receiver's, until it takes it; none if it was taken, or the sender gave up | |
/// | `Left` | no | none | |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Listed,
    Idle,
    Matched,
    Done,
    Left,
}

/// One party that waits, and what its peer leaves or takes.
pub(super) struct Meeting<T> {
    party: UnsafeCell<Party<T>>,
    /// There is something to see under the lock: a hint for those who look without it.
    settled: AtomicBool,
}

// SAFETY: the party is accessed under the channel's lock only; the item moves from thread to thread, and wakers and
// claims may.
unsafe impl<T: Send> Send for Meeting<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Meeting<T> {}

pub(super) struct Party<T> {
    pub(super) phase: Phase,
    pub(super) item: Option<T>,
    /// Of the owner; once it is matched, of the receiver.
    pub(super) waker: Option<Waker>,
    /// The owner waits for other operations too.
    pub(super) share: Option<Share>,
    /// The owner is a sender whose item comes once it is matched.
    pub(super) later: bool,
    prev: *const Meeting<T>,
    next: *const Meeting<T>,
}

impl<T> Meeting<T> {
    pub(super) fn new(
        item: Option<T>,
        waker: Waker,
        share: Option<Share>,
        later: bool,
    ) -> Arc<Self> {
        let party = Party {
            phase: Phase::Idle,
            item,
            waker: Some(waker),
            share,
            later,
            prev: ptr::null(),
            next: ptr::null(),
        };
        Arc::new(Self { party: UnsafeCell::new(party), settled: AtomicBool::new(false) })
    }

    /// The item of a meeting that was never listed.
    pub(super) fn into_item(this: Arc<Self>) -> Option<T> {
        Arc::into_inner(this).and_then(|meeting| meeting.party.into_inner().item.take())
    }

    /// # Safety
    /// The caller holds the channel's lock, and `f` does not come back here for the same meeting.
    pub(super) unsafe fn with<R>(&self, f: impl FnOnce(&mut Party<T>) -> R) -> R {
        // SAFETY: the lock excludes others, and the caller itself.
        self.party.with_mut(|party| f(unsafe { &mut *party }))
    }

    /// Ends the looking without the lock.
    pub(super) fn settle(&self) {
        // Relaxed: a hint; the lock orders.
        self.settled.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }
}

/// Drops a waker, whose destructor is foreign code; its panic ends here.
pub(super) fn let_go(waker: Option<Waker>) {
    if let Some(waker) = waker {
        discard(waker);
    }
}

impl<T> Drop for Party<T> {
    fn drop(&mut self) {
        let_go(self.waker.take());
    }
}

impl<T> Party<T> {
    /// Claims it for the caller, if it is not claimed and not the caller's own.
    fn claim(&self, me: Option<&Arc<Claim>>) -> bool {
        self.share.as_ref().is_none_or(|share| {
            me.is_none_or(|me| !Arc::ptr_eq(me, &share.claim)) && share.claim.claim(share.index)
        })
    }

    fn is_open(&self, me: Option<&Arc<Claim>>) -> bool {
        self.share.as_ref().is_none_or(|share| {
            me.is_none_or(|me| !Arc::ptr_eq(me, &share.claim)) && share.claim.is_open()
        })
    }
}

/// Those who wait at one side, in order.
pub(super) struct List<T> {
    head: *const Meeting<T>,
    tail: *const Meeting<T>,
}

/// (Each of these functions is called under the lock of the channel whose list it is.)
impl<T> List<T> {
    pub(super) const fn new() -> Self {
        Self { head: ptr::null(), tail: ptr::null() }
    }

    /// Lists a meeting, behind all others or before them.
    ///
    /// # Safety
    /// The lock is held, and the meeting is in no list.
    pub(super) unsafe fn push(&mut self, meeting: Arc<Meeting<T>>, front: bool) {
        let meeting = Arc::into_raw(meeting);
        let (prev, next) = if front { (ptr::null(), self.head) } else { (self.tail, ptr::null()) };
        // SAFETY: counted by `into_raw`, and the lock is held.
        unsafe {
            (*meeting).with(|p| (p.phase, p.prev, p.next) = (Phase::Listed, prev, next));
        }
        self.set_next(prev, meeting);
        self.set_prev(next, meeting);
    }

    /// Lists a meeting of a receiver whose item comes later.
    ///
    /// # Safety
    /// As [`push`](Self::push).
    pub(super) unsafe fn promise(&mut self, meeting: &Arc<Meeting<T>>) {
        // SAFETY: the caller's promise.
        unsafe {
            self.push(meeting.clone(), false);
            meeting.with(|party| party.phase = Phase::Matched);
        }
    }

    /// Takes a meeting out.
    ///
    /// # Safety
    /// The lock is held, and the meeting is in this list.
    pub(super) unsafe fn unlink(&mut self, meeting: *const Meeting<T>) -> Arc<Meeting<T>> {
        // SAFETY: in the list, so counted, and the lock is held; the count is the list's, and goes to the caller.
        unsafe {
            let (prev, next) = (*meeting).with(|p| (p.prev, p.next));
            self.set_next(prev, next);
            self.set_prev(next, prev);
            Arc::from_raw(meeting)
        }
    }

    /// Claims and takes out the first that the caller, `me`, may have.
    pub(super) fn claim_first(&mut self, me: Option<&Arc<Claim>>) -> Option<Arc<Meeting<T>>> {
        let meeting = self.find(|party| party.claim(me))?;
        // SAFETY: found in the list; the lock is held.
        Some(unsafe { self.unlink(meeting) })
    }

    /// Whether there is one that the caller, `me`, could claim.
    pub(super) fn has_open(&self, me: Option<&Arc<Claim>>) -> bool {
        self.find(|party| party.is_open(me)).is_some()
    }

    /// Takes the first out, whatever it is.
    pub(super) fn pop(&mut self) -> Option<Arc<Meeting<T>>> {
        let head = self.head;
        // SAFETY: in the list; the lock is held, or the list is the caller's alone.
        (!head.is_null()).then(|| unsafe { self.unlink(head) })
    }

    fn find(&self, may: impl Fn(&Party<T>) -> bool) -> Option<*const Meeting<T>> {
        let mut at = self.head;
        while !at.is_null() {
            // SAFETY: in the list, so counted, and the lock is held.
            let (found, next) = unsafe { (*at).with(|party| (may(party), party.next)) };
            if found {
                return Some(at);
            }
            at = next;
        }
        None
    }

    fn set_next(&mut self, of: *const Meeting<T>, next: *const Meeting<T>) {
        if of.is_null() {
            self.head = next;
        } else {
            // SAFETY: a neighbour in the list, so counted, and the lock is held.
            unsafe { (*of).with(|party| party.next = next) };
        }
    }

    fn set_prev(&mut self, of: *const Meeting<T>, prev: *const Meeting<T>) {
        if of.is_null() {
            self.tail = prev;
        } else {
            // SAFETY: as in `set_next`.
            unsafe { (*of).with(|party| party.prev = prev) };
        }
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        run_to_end(|| self.pop().is_some());
    }
}
