//! Where two sides meet on a channel without a buffer, and the lists of those that wait.
//!
//! Access rules: everything but `resolved` is accessed under the channel's lock. A list owns
//! a count of each meeting in it; the side that waits owns another.

use super::wait::{Case, Selection};
use sateen_base::prim::searched::AtomicBool;
use sateen_base::prim::{Ordering, UnsafeCell};
use sateen_base::unwind::{discard, run_and_discard, run_to_end};
use std::ptr;
use std::sync::Arc;
use std::task::Waker;

/// How far a meeting has come.
///
/// | phase | in a list | item | leaves it |
/// |---|---|---|---|
/// | `Idle` | no | a sender has it back | a send future that waits: `Listed` |
/// | `Listed` | of its side | that of a thread or fiber that sends | see below |
/// | `Called` | of the called | in the future that sends | see below |
/// | `Matched` | of the matched | none yet | see below |
/// | `Handed` | of the handed | the next receiver's | whoever receives it: `Done` |
/// | `Done` | no | none | |
/// | `Left` | no | none | |
///
/// | from | to | by |
/// |---|---|---|
/// | `Listed` | `Done` | the receiver that takes the item; a receiver that leaves, see `leave` |
/// | `Listed` | `Called` | a receiver: the future may send |
/// | `Listed` | `Matched` | the peer of a selection: the item comes later |
/// | `Listed` | `Handed` | the sender: a receiver is there; a future that was called |
/// | `Listed` | `Idle` | the owner that withdraws; disconnection |
/// | `Called` | `Listed` | the owner: no receiver is there any more |
/// | `Called` | `Done`, `Handed`, `Idle` | the owner that sends or withdraws; disconnection |
/// | `Matched` | `Handed`, `Done` | the sender, with the item or without |
/// | `Matched` | `Left` | the receiver |
/// | `Matched` | `Idle` | disconnection |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Listed,
    Called,
    Matched,
    Handed,
    Done,
    Left,
}

/// One side that waits, and what its peer leaves or takes.
pub(super) struct Meeting<T> {
    state: UnsafeCell<MeetingState<T>>,
    /// There is something to see under the lock: a hint for a side that spins without it.
    resolved: AtomicBool,
}

// SAFETY: the state is accessed under the channel's lock only; the item moves from thread to
// thread, and wakers and selections may.
unsafe impl<T: Send> Send for Meeting<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Meeting<T> {}

pub(super) struct MeetingState<T> {
    pub(super) phase: Phase,
    pub(super) item: Option<T>,
    /// The owner's; once the meeting is matched, the receiver's.
    pub(super) waker: Option<Waker>,
    /// Set if the owner waits for other operations too.
    pub(super) case: Option<Case>,
    /// The owner is a sender whose item comes once it is matched.
    pub(super) later: bool,
    prev: *const Meeting<T>,
    next: *const Meeting<T>,
}

impl<T> Meeting<T> {
    pub(super) fn new(item: Option<T>, waker: Waker, case: Option<Case>, later: bool) -> Arc<Self> {
        let state = MeetingState {
            phase: Phase::Idle,
            item,
            waker: Some(waker),
            case,
            later,
            prev: ptr::null(),
            next: ptr::null(),
        };
        Arc::new(Self { state: UnsafeCell::new(state), resolved: AtomicBool::new(false) })
    }

    /// The item of a meeting that was never listed.
    pub(super) fn into_item(this: Arc<Self>) -> Option<T> {
        Arc::into_inner(this).and_then(|meeting| meeting.state.into_inner().item.take())
    }

    /// # Safety
    /// The caller holds the channel's lock, and `f` does not come back here for the same meeting.
    pub(super) unsafe fn with<R>(&self, f: impl FnOnce(&mut MeetingState<T>) -> R) -> R {
        // SAFETY: the lock excludes other threads, and `f` does not come back.
        self.state.with_mut(|state| f(unsafe { &mut *state }))
    }

    /// There is something to see for the owner. The caller wakes it without the lock.
    pub(super) fn resolve(&self) {
        // Relaxed: a hint; the lock orders.
        self.resolved.store(true, Ordering::Relaxed);
    }

    /// Whether there is something to see: a hint.
    pub(super) fn is_resolved(&self) -> bool {
        self.resolved.load(Ordering::Relaxed)
    }
}

/// Wakes an owner, whose waker is user code; its panic ends here. Called without the lock.
pub(super) fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        run_and_discard(|| waker.wake());
    }
}

/// Drops a waker, whose destructor is user code; its panic ends here.
pub(super) fn drop_waker(waker: Option<Waker>) {
    if let Some(waker) = waker {
        discard(waker);
    }
}

impl<T> Drop for MeetingState<T> {
    fn drop(&mut self) {
        drop_waker(self.waker.take());
    }
}

impl<T> MeetingState<T> {
    /// Claims the meeting for a caller that waits in `me`, unless its selection is claimed already
    /// or is the caller's own.
    fn claim(&self, me: Option<&Arc<Selection>>) -> bool {
        self.case.as_ref().is_none_or(|case| {
            me.is_none_or(|me| !Arc::ptr_eq(me, &case.selection))
                && case.selection.claim(case.index)
        })
    }

    /// Whether `claim` would succeed now.
    fn is_open(&self, me: Option<&Arc<Selection>>) -> bool {
        self.case.as_ref().is_none_or(|case| {
            me.is_none_or(|me| !Arc::ptr_eq(me, &case.selection)) && case.selection.is_open()
        })
    }
}

/// The meetings of one side, in order.
pub(super) struct List<T> {
    head: *const Meeting<T>,
    tail: *const Meeting<T>,
}

/// (Each of these functions is called under the lock of the channel that the list belongs to.)
impl<T> List<T> {
    pub(super) const fn new() -> Self {
        Self { head: ptr::null(), tail: ptr::null() }
    }

    /// Lists a meeting in its new phase, behind all others or before them.
    ///
    /// # Safety
    /// The lock is held, and the meeting is in no list.
    pub(super) unsafe fn push(&mut self, meeting: Arc<Meeting<T>>, phase: Phase, front: bool) {
        let meeting = Arc::into_raw(meeting);
        let (prev, next) = if front { (ptr::null(), self.head) } else { (self.tail, ptr::null()) };
        // SAFETY: counted by `into_raw`, and the lock is held.
        unsafe {
            (*meeting).with(|m| (m.phase, m.prev, m.next) = (phase, prev, next));
        }
        self.set_next(prev, meeting);
        self.set_prev(next, meeting);
    }

    /// Takes a meeting out.
    ///
    /// # Safety
    /// The lock is held, and the meeting is in this list.
    pub(super) unsafe fn unlink(&mut self, meeting: *const Meeting<T>) -> Arc<Meeting<T>> {
        // SAFETY: in the list, so counted, and the lock is held; the list's count goes to the
        // caller.
        unsafe {
            let (prev, next) = (*meeting).with(|m| (m.prev, m.next));
            // The pointer of `push`, which leads to the count, too. The caller's may be made of a
            // reference to the meeting alone.
            let listed = if prev.is_null() { self.head } else { (*prev).with(|m| m.next) };
            self.set_next(prev, next);
            self.set_prev(next, prev);
            Arc::from_raw(listed)
        }
    }

    /// Claims the first meeting that a caller in the selection `me` may have, and takes it out.
    pub(super) fn claim_first(&mut self, me: Option<&Arc<Selection>>) -> Option<Arc<Meeting<T>>> {
        let meeting = self.find(|m| m.claim(me))?;
        // SAFETY: found in the list; the lock is held.
        Some(unsafe { self.unlink(meeting) })
    }

    /// Whether there is one that a caller in the selection `me` could claim.
    pub(super) fn has_open(&self, me: Option<&Arc<Selection>>) -> bool {
        self.find(|m| m.is_open(me)).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.is_null()
    }

    /// Takes the first out, claimed or not.
    pub(super) fn pop(&mut self) -> Option<Arc<Meeting<T>>> {
        let head = self.head;
        // SAFETY: in the list; the lock is held, or the list is the caller's alone.
        (!head.is_null()).then(|| unsafe { self.unlink(head) })
    }

    fn find(&self, may: impl Fn(&MeetingState<T>) -> bool) -> Option<*const Meeting<T>> {
        let mut at = self.head;
        while !at.is_null() {
            // SAFETY: in the list, so counted, and the lock is held.
            let (found, next) = unsafe { (*at).with(|m| (may(m), m.next)) };
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
            unsafe { (*of).with(|m| m.next = next) };
        }
    }

    fn set_prev(&mut self, of: *const Meeting<T>, prev: *const Meeting<T>) {
        if of.is_null() {
            self.tail = prev;
        } else {
            // SAFETY: as in `set_next`.
            unsafe { (*of).with(|m| m.prev = prev) };
        }
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        run_to_end(|| self.pop().is_some());
    }
}
