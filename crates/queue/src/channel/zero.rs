//! The state of a channel without a buffer: an item goes from hand to hand. Protocol and proof:
//! `README.md` beside this file.

use super::counted::Channel;
use super::error::{TryRecvError, TrySendError};
use super::meeting::{Meeting, Phase, drop_waker, wake};
use super::token::Reservation;
use super::wait::{Queued, Wait};
use super::zero_state::{Parcel, State};
use crate::trace::Traced;
use sateen_base::unwind::{FirstPanic, run_to_end};
use sateen_base::{CachePadded, RawSpinLock, SpinLock};
use sateen_sync::WaitPoint;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// A channel without a buffer.
pub(super) struct Zero<T> {
    state: CachePadded<SpinLock<State<T>>>,
    /// Selections that only ask whether a sender (or a receiver) is there, and take no part.
    watching_senders: WaitPoint,
    watching_receivers: WaitPoint,
}

/// What a receiver found.
pub(super) enum Taken<T> {
    Item(T),
    /// A sender that was selected without its item, which comes to this meeting.
    Later(Arc<Meeting<T>>),
}

/// The item out of a meeting that no receiver uses any more.
fn unpack<T>((carrier, item): Parcel<T>) -> T {
    Traced::YES.received(Arc::as_ptr(&carrier));
    item
}

/// Tells those who watch. A hint is enough: a watcher raises its flag and then looks under the
/// lock. So it sees the change, or the caller has seen its flag with the lock.
fn tell(watching: &WaitPoint) {
    if watching.has_waiters() {
        watching.notify_all();
    }
}

impl<T> Zero<T> {
    pub(super) fn new() -> Self {
        Self {
            state: CachePadded::new(SpinLock::from_raw(RawSpinLock::new(), State::new())),
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
        let waker = state.hand(receiver, Some(item));
        drop(state);
        wake(waker);
        Ok(())
    }

    /// A send future looks for a receiver, and sends if one waits or has asked. Otherwise it waits
    /// in the meeting `own`, and keeps its item.
    pub(super) fn offer(
        &self,
        own: &mut Option<Arc<Meeting<T>>>,
        item: &mut Option<T>,
        waker: &Waker,
    ) -> Poll<Result<(), ()>> {
        // Wakers are cloned and dropped without the lock.
        let mut new: Option<Waker> = None;
        loop {
            let mut state = self.state.lock();
            if state.receivers_gone {
                drop(state);
                *own = None;
                drop_waker(new);
                return Poll::Ready(Err(()));
            }
            let receiver = state.receivers.claim_first(None);
            let alone = receiver.is_none();
            let listed = match &*own {
                Some(own) if !alone || state.asked => state.unlist_future(own),
                _ => None,
            };
            if let Some(carrier) = receiver.or(listed) {
                state.asked = false;
                let waker = state.hand(carrier, item.take());
                drop(state);
                *own = None;
                drop_waker(new);
                if !alone {
                    wake(waker);
                    return Poll::Ready(Ok(()));
                }
                drop_waker(waker);
                tell(&self.watching_receivers);
                return Poll::Ready(Ok(()));
            }
            let Some(own) = own else {
                drop(state);
                *own = Some(Meeting::new(None, waker.clone(), None, false));
                continue;
            };
            // SAFETY: the lock is held; the phase names the list.
            let (phase, same) = unsafe {
                own.with(|m| (m.phase, m.waker.as_ref().is_some_and(|old| old.will_wake(waker))))
            };
            let done = same || new.is_some();
            // SAFETY: as above.
            let old = unsafe {
                match phase {
                    Phase::Idle => state.futures.push(own.clone(), Phase::Listed, false),
                    // It keeps its place.
                    Phase::Called if done => {
                        let called = state.called.unlink(&**own);
                        state.futures.push(called, Phase::Listed, true);
                    }
                    _ => {}
                }
                let replaced = if same { None } else { new.take() };
                replaced.and_then(|new| own.with(|m| m.waker.replace(new)))
            };
            drop(state);
            drop_waker(old);
            if phase == Phase::Idle {
                // One that watches looks again, and asks.
                tell(&self.watching_receivers);
            }
            if done {
                drop_waker(new);
                return Poll::Pending;
            }
            new = Some(waker.clone());
        }
    }

    /// A send future is dropped. If it was called, another is.
    pub(super) fn retract(&self, own: &Meeting<T>) {
        let mut state = self.state.lock();
        // SAFETY: the lock is held.
        let called = unsafe { own.with(|m| m.phase == Phase::Called) };
        let listed = state.unlist_future(own);
        let wanted = state.asked || !state.receivers.is_empty();
        let waker = if called && wanted { state.call() } else { None };
        drop(state);
        drop(listed);
        wake(waker);
    }

    /// Takes the first item that has been sent, or that of a sender that waits. A caller that will
    /// not wait if there is none `leaves`.
    pub(super) fn try_take(&self, leaves: bool) -> Result<Taken<T>, TryRecvError> {
        let mut state = self.state.lock();
        if let Some(parcel) = state.take_handed() {
            drop(state);
            return Ok(Taken::Item(unpack(parcel)));
        }
        let Some(sender) = state.senders.claim_first(None) else {
            let gone = state.senders_gone;
            let called = if leaves { state.ask() } else { None };
            drop(state);
            wake(called);
            return Err(if gone { TryRecvError::Disconnected } else { TryRecvError::Empty });
        };
        // The next turn is a future's.
        let called = state.ask();
        // SAFETY: the lock is held, and the meeting is in no list.
        let (item, waker) = unsafe {
            if sender.with(|m| m.later) {
                state.matched.push(sender.clone(), Phase::Matched, false);
            } else {
                sender.with(|m| m.phase = Phase::Done);
                sender.resolve();
            }
            sender.with(|m| (m.item.take(), m.waker.take()))
        };
        drop(state);
        wake(waker);
        wake(called);
        Ok(match item {
            Some(item) => Taken::Item(unpack((sender, item))),
            None => Taken::Later(sender),
        })
    }

    /// Lists `meeting`, unless a peer is there or all peers are gone; returns whether it is listed.
    /// A receiver that waits again is the `first`.
    pub(super) fn enlist(&self, meeting: &Arc<Meeting<T>>, sender: bool, first: bool) -> bool {
        let mut state = self.state.lock();
        let gone = if sender { state.receivers_gone } else { state.senders_gone };
        // SAFETY: the lock is held. The meeting is in no list, so looking does not come back to it.
        let (peer, has_item) = unsafe {
            meeting.with(|m| {
                let me = m.case.as_ref().map(|case| &case.selection);
                let handed = !sender && !state.handed.is_empty();
                (handed || state.list(!sender).has_open(me), m.item.is_some())
            })
        };
        if gone || peer {
            return false;
        }
        if has_item {
            Traced::YES.sent(Arc::as_ptr(meeting));
        }
        // SAFETY: the lock is held; the meeting is new, or out of its list.
        unsafe { state.list(sender).push(meeting.clone(), Phase::Listed, first) };
        let called = if sender { None } else { state.call() };
        drop(state);
        wake(called);
        tell(if sender { &self.watching_receivers } else { &self.watching_senders });
        true
    }

    /// What `settled` finds once a peer, or the end of the peers, has come to the meeting. Before
    /// that `waker` will be woken.
    fn look<R>(
        &self,
        meeting: &Meeting<T>,
        waker: &Waker,
        settled: impl Fn(&mut State<T>) -> R,
    ) -> Poll<R> {
        let mut new: Option<Waker> = None;
        loop {
            let mut state = self.state.lock();
            // SAFETY: the lock is held.
            let phase = unsafe { meeting.with(|m| m.phase) };
            if !matches!(phase, Phase::Listed | Phase::Matched) {
                let found = settled(&mut state);
                drop(state);
                drop_waker(new);
                return Poll::Ready(found);
            }
            // SAFETY: the lock is held.
            let (done, old) = unsafe {
                meeting.with(|m| {
                    if m.waker.as_ref().is_some_and(|old| old.will_wake(waker)) {
                        return (true, None);
                    }
                    let done = new.is_some();
                    (done, new.take().and_then(|new| m.waker.replace(new)))
                })
            };
            drop(state);
            // Wakers are cloned and dropped without the lock.
            drop_waker(old);
            if done {
                drop_waker(new);
                return Poll::Pending;
            }
            new = Some(waker.clone());
        }
    }

    /// Whether the item of a sender has been taken: with the item, if all receivers are gone.
    pub(super) fn poll_sent(
        &self,
        meeting: &Meeting<T>,
        waker: &Waker,
    ) -> Poll<Result<(), Option<T>>> {
        self.look(meeting, waker, |_| {
            // SAFETY: called with the lock.
            unsafe {
                meeting.with(|m| match m.phase {
                    Phase::Idle => Err(m.item.take()),
                    _ => Ok(()),
                })
            }
        })
    }

    /// What there is for a receiver that waited: `None` if it has to look elsewhere.
    pub(super) fn poll_received(&self, meeting: &Meeting<T>, waker: &Waker) -> Poll<Option<T>> {
        self.look(meeting, waker, State::take_handed).map(|parcel| parcel.map(unpack))
    }

    /// Takes a sender that no peer has come to out of its list. Returns whether it was listed, and
    /// its item.
    pub(super) fn withdraw(&self, meeting: &Meeting<T>) -> (bool, Option<T>) {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; a listed meeting is in the list of its side.
        unsafe {
            if meeting.with(|m| m.phase) != Phase::Listed {
                return (false, None);
            }
            let listed = state.senders.unlink(meeting);
            let item = meeting.with(|m| {
                m.phase = Phase::Idle;
                m.item.take()
            });
            drop(state);
            drop(listed);
            (true, item)
        }
    }

    /// A receiver leaves a meeting. If it was told of an item, the next receiver is.
    pub(super) fn leave(&self, meeting: &Meeting<T>) {
        let mut state = self.state.lock();
        let listed = state.unlist_receiver(meeting);
        let owes = listed.is_none() && !state.handed.is_empty();
        let waker = if owes { state.pass_on() } else { state.ask() };
        drop(state);
        drop(listed);
        wake(waker);
        if owes {
            tell(&self.watching_receivers);
        }
    }

    /// The time of a receiver is over: it takes an item that is there, and leaves. `Err` if its
    /// sender has come without the item, and the receiver does not leave it for that.
    pub(super) fn stop(&self, meeting: &Meeting<T>, leaves_sender: bool) -> Result<Option<T>, ()> {
        let mut state = self.state.lock();
        // SAFETY: the lock is held.
        if !leaves_sender && unsafe { meeting.with(|m| m.phase == Phase::Matched) } {
            return Err(());
        }
        let listed = state.unlist_receiver(meeting);
        let parcel = state.take_handed();
        let waker = if parcel.is_none() { state.ask() } else { None };
        drop(state);
        drop(listed);
        wake(waker);
        Ok(parcel.map(unpack))
    }

    /// The item of a sender that was selected without it, or the news that it does not come. False
    /// if the receiver was selected too, and has left.
    pub(super) fn fill(&self, meeting: &Meeting<T>, item: &mut Option<T>) -> bool {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; a matched meeting is in the list of the matched.
        let listed = unsafe {
            if meeting.with(|m| m.phase) != Phase::Matched {
                return false;
            }
            state.matched.unlink(meeting)
        };
        let waker = if item.is_some() {
            state.hand(listed, item.take())
        } else {
            listed.resolve();
            // SAFETY: the lock is held.
            unsafe {
                listed.with(|m| {
                    m.phase = Phase::Done;
                    m.waker.take()
                })
            }
        };
        drop(state);
        wake(waker);
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
        unsafe { state.matched.push(receiver.clone(), Phase::Matched, false) };
        Some(Reservation::Meeting(Arc::into_raw(receiver).cast()))
    }

    /// Whether an item is there, a sender waits, or no sender is left. If only futures wait to
    /// send, one is asked.
    pub(super) fn is_poppable(&self) -> bool {
        let mut state = self.state.lock();
        if state.senders_gone || !state.handed.is_empty() || state.senders.has_open(None) {
            return true;
        }
        let called = state.ask();
        drop(state);
        wake(called);
        false
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
        let mut panics = FirstPanic::new();
        // No meeting is listed from now on.
        panics.catch(|| run_to_end(|| self.dismiss_one(senders)));
        let watching = if senders { &self.watching_senders } else { &self.watching_receivers };
        panics.catch(|| watching.notify_all());
        panics.resume();
    }

    /// Dismisses one waiter, or drops an item that nobody will receive; false if there is none.
    /// A meeting without an owner is freed.
    fn dismiss_one(&self, senders: bool) -> bool {
        let mut state = self.state.lock();
        let listed = if senders {
            let futures = |state: &mut State<T>| state.futures.pop().or_else(|| state.called.pop());
            let state = &mut *state;
            state.senders.pop().or_else(|| futures(state)).or_else(|| state.handed.pop())
        } else {
            // No sender is left, so the owners of matched meetings have forgotten them.
            let state = &mut *state;
            state.receivers.pop().or_else(|| state.matched.pop())
        };
        let Some(meeting) = listed else { return false };
        meeting.resolve();
        // SAFETY: the lock is held.
        let (waker, item) = unsafe {
            meeting.with(|m| {
                let sent = m.phase == Phase::Handed;
                m.phase = Phase::Idle;
                (m.waker.take(), if sent { m.item.take() } else { None })
            })
        };
        drop(state);
        wake(waker);
        drop(item);
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
