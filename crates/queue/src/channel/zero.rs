//! The state of a channel without a buffer: an item goes from hand to hand. Protocol and proof:
//! `README.md` beside this file.

use super::counted::Channel;
use super::error::{TryRecvError, TrySendError};
use super::meeting::{List, Meeting, Phase, drop_waker};
use super::token::Reservation;
use super::wait::{Queued, Wait};
use crate::trace::Traced;
use sateen_base::canary;
use sateen_base::unwind::{FirstPanic, run_and_discard, run_to_end};
use sateen_base::{RawSpinLock, SpinLock};
use sateen_sync::WaitPoint;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;

/// A channel without a buffer.
pub(super) struct Zero<T> {
    state: SpinLock<State<T>>,
    /// Selections that only ask whether a sender (or a receiver) is there, and take no part.
    watching_senders: WaitPoint,
    watching_receivers: WaitPoint,
}

struct State<T> {
    senders: List<T>,
    receivers: List<T>,
    /// Matched meetings: their items come later.
    matched: List<T>,
    senders_gone: bool,
    receivers_gone: bool,
}

// SAFETY: the lists own counts of meetings, which threads may share if items may move from one to
// another.
unsafe impl<T: Send> Send for State<T> {}

impl<T> State<T> {
    fn list(&mut self, senders: bool) -> &mut List<T> {
        if senders { &mut self.senders } else { &mut self.receivers }
    }
}

/// What a receiver found.
pub(super) enum Taken<T> {
    Item(T),
    /// A sender that was selected without its item, which comes to this meeting.
    Later(Arc<Meeting<T>>),
}

/// How far a meeting has come for the side that waits.
pub(super) enum Progress<T> {
    /// The peer has not come yet, or the item has not.
    Pending,
    /// A receiver has its item; a sender's item is taken.
    Done(Option<T>),
    /// The other half is gone; a sender has its item back.
    Disconnected(Option<T>),
}

impl<T> Zero<T> {
    pub(super) fn new() -> Self {
        let state = State {
            senders: List::new(),
            receivers: List::new(),
            matched: List::new(),
            senders_gone: false,
            receivers_gone: false,
        };
        Self {
            state: SpinLock::from_raw(RawSpinLock::new(), state),
            watching_senders: WaitPoint::new(),
            watching_receivers: WaitPoint::new(),
        }
    }

    /// Hands `item` to a receiver that waits.
    pub(super) fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        let mut state = self.state.lock();
        if state.receivers_gone {
            return Err(TrySendError::Disconnected(item));
        }
        let Some(receiver) = state.receivers.claim_first(None) else {
            return Err(TrySendError::Full(item));
        };
        Traced::YES.sent(Arc::as_ptr(&receiver));
        // SAFETY: the lock is held.
        let waker = unsafe {
            receiver.with(|m| {
                (m.phase, m.item) = (Phase::Done, Some(item));
                m.waker.take()
            })
        };
        drop(state);
        receiver.wake(waker);
        Ok(())
    }

    /// Takes the item of a sender that waits.
    pub(super) fn try_take(&self) -> Result<Taken<T>, TryRecvError> {
        let mut state = self.state.lock();
        let Some(sender) = state.senders.claim_first(None) else {
            let gone = state.senders_gone;
            return Err(if gone { TryRecvError::Disconnected } else { TryRecvError::Empty });
        };
        // SAFETY: the lock is held, and the meeting is in no list.
        let (item, waker) = unsafe {
            if sender.with(|m| m.later) {
                state.matched.push_matched(&sender);
            } else {
                sender.with(|m| m.phase = Phase::Done);
            }
            sender.with(|m| (m.item.take(), m.waker.take()))
        };
        drop(state);
        match item {
            Some(item) => {
                Traced::YES.received(Arc::as_ptr(&sender));
                sender.wake(waker);
                Ok(Taken::Item(item))
            }
            None => {
                if let Some(waker) = waker {
                    run_and_discard(|| waker.wake());
                }
                Ok(Taken::Later(sender))
            }
        }
    }

    /// Lists `meeting`, unless a peer is there or all peers are gone; returns whether it is listed.
    pub(super) fn enlist(&self, meeting: &Arc<Meeting<T>>, sender: bool) -> bool {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; nothing is changed.
        let (case, has_item) = unsafe { meeting.with(|m| (m.case.clone(), m.item.is_some())) };
        let me = case.as_ref().map(|case| &case.selection);
        let gone = if sender { state.receivers_gone } else { state.senders_gone };
        let look = !canary!("channel_meeting_unseen");
        if gone || (look && state.list(!sender).has_open(me)) {
            return false;
        }
        if has_item {
            Traced::YES.sent(Arc::as_ptr(meeting));
        }
        // SAFETY: the lock is held; the meeting is new, or out of its list.
        unsafe { state.list(sender).push(meeting.clone(), false) };
        drop(state);
        let watching = if sender { &self.watching_receivers } else { &self.watching_senders };
        // A hint is enough: a watcher raises its flag and then looks under the lock. So it sees the
        // meeting, or this thread has seen its flag with the lock.
        if watching.has_waiters() {
            watching.notify_all();
        }
        true
    }

    /// How far the meeting has come; while it is pending, `waker` will be woken.
    pub(super) fn look(&self, meeting: &Meeting<T>, waker: &Waker) -> Progress<T> {
        let mut new: Option<Waker> = None;
        loop {
            let state = self.state.lock();
            // SAFETY: the lock is held.
            let (progress, old) = unsafe {
                meeting.with(|m| match m.phase {
                    Phase::Done => (Some(Progress::Done(m.item.take())), None),
                    Phase::Idle => (Some(Progress::Disconnected(m.item.take())), None),
                    Phase::Listed | Phase::Matched | Phase::Left => {
                        let same = |old: &Waker| old.will_wake(waker);
                        if m.waker.as_ref().is_some_and(same) {
                            (Some(Progress::Pending), None)
                        } else if new.is_some() {
                            (Some(Progress::Pending), std::mem::replace(&mut m.waker, new.take()))
                        } else {
                            (None, None)
                        }
                    }
                })
            };
            drop(state);
            if let Some(Progress::Done(Some(_))) = progress {
                Traced::YES.received(meeting);
            }
            // Wakers are cloned and dropped without the lock.
            drop_waker(old);
            match progress {
                Some(progress) => {
                    drop_waker(new);
                    return progress;
                }
                None => new = Some(waker.clone()),
            }
        }
    }

    /// Takes a meeting that no peer has come to out of its list. Returns whether it was listed, and
    /// a sender's item.
    pub(super) fn withdraw(&self, meeting: &Meeting<T>, sender: bool) -> (bool, Option<T>) {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; a listed meeting is in the list of its side.
        unsafe {
            if meeting.with(|m| m.phase) != Phase::Listed {
                return (false, None);
            }
            let listed = state.list(sender).unlink(meeting);
            let item = meeting.with(|m| {
                m.phase = Phase::Idle;
                m.item.take()
            });
            drop(state);
            drop(listed);
            (true, item)
        }
    }

    /// A receiver leaves a meeting, listed or not; an item that it was handed goes to the next
    /// receiver.
    pub(super) fn leave(&self, meeting: Arc<Meeting<T>>) {
        if self.withdraw(&meeting, false).0 {
            return;
        }
        if let Some(item) = self.abandon(&meeting)
            && !canary!("channel_handed_item_dropped")
        {
            self.put_back(meeting, item);
        }
    }

    /// A receiver stops waiting for an item that comes later; the sender will have to find another
    /// receiver. Returns the item if it has come.
    pub(super) fn abandon(&self, meeting: &Meeting<T>) -> Option<T> {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; a matched meeting is in the list of the matched.
        let (item, left) = unsafe {
            let matched = meeting.with(|m| m.phase) == Phase::Matched;
            let left = matched.then(|| state.matched.unlink(meeting));
            let item = meeting.with(|m| {
                if matched {
                    m.phase = Phase::Left;
                }
                m.item.take()
            });
            (item, left)
        };
        drop(state);
        drop(left);
        item
    }

    /// Hands an item whose receiver has left to the next receiver.
    pub(super) fn put_back(&self, meeting: Arc<Meeting<T>>, item: T) {
        let mut state = self.state.lock();
        let (receiver, waker) = match state.receivers.claim_first(None) {
            // SAFETY: the lock is held.
            Some(receiver) => unsafe {
                let waker = receiver.with(|m| {
                    (m.phase, m.item) = (Phase::Done, Some(item));
                    m.waker.take()
                });
                (receiver, waker)
            },
            None if state.receivers_gone => {
                drop(state);
                return drop(item);
            }
            // SAFETY: the lock is held; the meeting has ended, and no other thread uses it any
            // more.
            None => unsafe {
                // Dropped without the lock: a waker's destructor is user code.
                let left = meeting.with(|m| {
                    (m.item, m.later) = (Some(item), false);
                    (m.waker.take(), m.case.take())
                });
                state.senders.push(meeting, true);
                drop(state);
                drop_waker(left.0);
                return self.watching_receivers.notify_all();
            },
        };
        drop(state);
        receiver.wake(waker);
    }

    /// The item of a sender that was selected without it. False if the receiver was selected too,
    /// and has left.
    pub(super) fn fill(&self, meeting: &Arc<Meeting<T>>, item: &mut Option<T>) -> bool {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; a matched meeting is in the list of the matched.
        let (listed, waker) = unsafe {
            if meeting.with(|m| m.phase) != Phase::Matched {
                return false;
            }
            let listed = state.matched.unlink(&**meeting);
            if item.is_some() {
                Traced::YES.sent(Arc::as_ptr(meeting));
            }
            let waker = meeting.with(|m| {
                (m.phase, m.item) = (Phase::Done, item.take());
                m.waker.take()
            });
            (listed, waker)
        };
        drop(state);
        listed.wake(waker);
        true
    }

    /// Matches a receiver with an item that comes later; `None` if no receiver waits.
    pub(super) fn reserve(&self) -> Option<Reservation> {
        let mut state = self.state.lock();
        if state.receivers_gone {
            return Some(Reservation::Disconnected);
        }
        let receiver = state.receivers.claim_first(None)?;
        // SAFETY: the lock is held, and the meeting is in no list.
        unsafe { state.matched.push_matched(&receiver) };
        Some(Reservation::Meeting(Arc::into_raw(receiver).cast()))
    }

    /// Whether a sender waits, or no sender is left.
    pub(super) fn is_poppable(&self) -> bool {
        let state = self.state.lock();
        state.senders_gone || state.senders.has_open(None)
    }

    /// Whether a receiver waits, or no receiver is left.
    pub(super) fn is_pushable(&self) -> bool {
        let state = self.state.lock();
        state.receivers_gone || state.receivers.has_open(None)
    }

    pub(super) fn watch_recv(&self) -> Option<Pin<Box<dyn Wait + '_>>> {
        Queued::join(&self.watching_receivers, || self.is_poppable())
    }

    pub(super) fn watch_send(&self) -> Option<Pin<Box<dyn Wait + '_>>> {
        Queued::join(&self.watching_senders, || self.is_pushable())
    }

    /// Tells the waiters of one side that the other side is gone.
    fn dismiss(&self, senders: bool) {
        let mut state = self.state.lock();
        if senders {
            state.receivers_gone = true;
        } else {
            state.senders_gone = true;
        }
        drop(state);
        if canary!("channel_close_silent") {
            return;
        }
        let mut panics = FirstPanic::new();
        // No meeting is listed from now on.
        panics.catch(|| run_to_end(|| self.dismiss_one(senders)));
        let watching = if senders { &self.watching_senders } else { &self.watching_receivers };
        panics.catch(|| watching.notify_all());
        panics.resume();
    }

    /// Dismisses one waiter; false if there is none. A meeting without an owner is freed, and its
    /// item with it.
    fn dismiss_one(&self, senders: bool) -> bool {
        let mut state = self.state.lock();
        let listed = state.list(senders).pop();
        // No sender is left, so the owners of matched meetings have forgotten them.
        let matched = || state.matched.pop();
        let alone = senders || canary!("channel_matched_unlisted");
        let Some(meeting) = (if alone { listed } else { listed.or_else(matched) }) else {
            return false;
        };
        // SAFETY: the lock is held.
        let waker = unsafe {
            meeting.with(|m| {
                m.phase = Phase::Idle;
                m.waker.take()
            })
        };
        drop(state);
        meeting.wake(waker);
        true
    }
}

impl<T> Channel for Zero<T> {
    fn senders_gone(&self) {
        self.dismiss(false);
    }

    fn receivers_gone(&self) {
        self.dismiss(true);
    }
}
