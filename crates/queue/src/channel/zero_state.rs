//! Waiting senders and receivers of a channel without a buffer, and what was sent there.
//! Everything here is under the channel's lock, and calls no user code. Protocol and proof:
//! `README.md` beside this file.

use super::meeting::{List, Meeting, Phase};
use crate::trace::Traced;
use std::sync::Arc;
use std::task::Waker;

/// What each operation changes comes first: with the lock before it, it fills one cache line.
#[repr(C)]
pub(super) struct State<T> {
    /// Threads and fibers that send, and selections.
    pub(super) senders: List<T>,
    pub(super) receivers: List<T>,
    /// Items that have been sent, in order. Whichever receiver looks next has the first.
    pub(super) handed: List<T>,
    /// A receiver found only futures, and did not wait. One of them may send to the next receiver.
    pub(super) asked: bool,
    pub(super) senders_gone: bool,
    pub(super) receivers_gone: bool,
    /// Send futures that wait to be called.
    pub(super) futures: List<T>,
    /// Send futures that receivers have called, until they are polled or dropped.
    pub(super) called: List<T>,
    /// Matched meetings: their items come later.
    pub(super) matched: List<T>,
}

// SAFETY: the lists own counts of meetings, which threads may share if items may move from one to
// another.
unsafe impl<T: Send> Send for State<T> {}

/// An item, and the meeting that it lay in. That is dropped without the lock.
pub(super) type Parcel<T> = (Arc<Meeting<T>>, T);

/// (A caller with this state holds the lock.)
impl<T> State<T> {
    pub(super) fn new() -> Self {
        Self {
            senders: List::new(),
            futures: List::new(),
            called: List::new(),
            receivers: List::new(),
            matched: List::new(),
            handed: List::new(),
            asked: false,
            senders_gone: false,
            receivers_gone: false,
        }
    }

    pub(super) fn list(&mut self, senders: bool) -> &mut List<T> {
        if senders { &mut self.senders } else { &mut self.receivers }
    }

    /// Sends an item. It lies in `carrier`, which is in no list, until a receiver takes it. Returns
    /// the waker of the carrier's owner.
    pub(super) fn hand(&mut self, carrier: Arc<Meeting<T>>, item: Option<T>) -> Option<Waker> {
        Traced::YES.sent(Arc::as_ptr(&carrier));
        // SAFETY: the lock is held.
        let waker = unsafe {
            carrier.with(|m| {
                m.item = item;
                m.waker.take()
            })
        };
        carrier.resolve();
        // SAFETY: the lock is held, and the carrier is in no list.
        unsafe { self.handed.push(carrier, Phase::Handed, false) };
        waker
    }

    /// The first item that has been sent and not received.
    pub(super) fn take_handed(&mut self) -> Option<Parcel<T>> {
        let carrier = self.handed.pop()?;
        // SAFETY: the lock is held.
        let item = unsafe {
            carrier.with(|m| {
                m.phase = Phase::Done;
                m.item.take()
            })
        };
        item.map(|item| (carrier, item))
    }

    /// Calls the first send future that has not been called; returns its waker.
    pub(super) fn call(&mut self) -> Option<Waker> {
        let future = self.futures.pop()?;
        // SAFETY: the lock is held, and the meeting is in no list.
        unsafe {
            let waker = future.with(|m| m.waker.take());
            self.called.push(future, Phase::Called, false);
            waker
        }
    }

    /// For a receiver that does not wait, and leaves without the item of a send future: one of
    /// those that wait may send to the next receiver.
    pub(super) fn ask(&mut self) -> Option<Waker> {
        if self.futures.is_empty() && self.called.is_empty() || !self.handed.is_empty() {
            return None;
        }
        self.asked = true;
        self.call()
    }

    /// Tells the next receiver of an item that the caller was told of and has not taken.
    pub(super) fn pass_on(&mut self) -> Option<Waker> {
        // The list's count goes here, under the lock; the owner has another.
        let receiver = self.receivers.claim_first(None)?;
        receiver.resolve();
        // SAFETY: the lock is held.
        unsafe {
            receiver.with(|m| {
                m.phase = Phase::Done;
                m.waker.take()
            })
        }
    }

    /// Takes a send future out of its list, if it is in one.
    pub(super) fn unlist_future(&mut self, future: &Meeting<T>) -> Option<Arc<Meeting<T>>> {
        // SAFETY: the lock is held, and the phase names the list.
        let listed = unsafe {
            match future.with(|m| m.phase) {
                Phase::Listed => self.futures.unlink(future),
                Phase::Called => self.called.unlink(future),
                _ => return None,
            }
        };
        self.asked &= !(self.futures.is_empty() && self.called.is_empty());
        // SAFETY: the lock is held.
        unsafe { future.with(|m| m.phase = Phase::Done) };
        Some(listed)
    }

    /// Takes a receiver out of its list, if it is in one.
    pub(super) fn unlist_receiver(&mut self, receiver: &Meeting<T>) -> Option<Arc<Meeting<T>>> {
        // SAFETY: the lock is held, and the phase names the list.
        unsafe {
            let (listed, phase) = match receiver.with(|m| m.phase) {
                Phase::Listed => (self.receivers.unlink(receiver), Phase::Idle),
                Phase::Matched => (self.matched.unlink(receiver), Phase::Left),
                _ => return None,
            };
            receiver.with(|m| m.phase = phase);
            Some(listed)
        }
    }
}
