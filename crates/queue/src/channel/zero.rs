//! Channels without a buffer: an item goes from hand to hand. Protocol and proof: `README.md` beside this file.

use super::counted::Channel;
use super::error::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};
use super::meeting::{List, Meeting, Phase, let_go};
use super::party::{Receiving, Sending, block, wake};
use super::token::{Pledge, Token};
use super::wait::{Queued, Share, Wait};
use super::waiters::{Waiters, awaited, quietly};
use sateen_base::canary;
use sateen_base::prim::time::Instant;
use sateen_base::unwind::{FirstPanic, run_to_end};
use sateen_base::{RawSpinLock, SpinLock};
use sateen_sync::park;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;

/// A channel without a buffer.
pub(super) struct Zero<T> {
    state: SpinLock<State<T>>,
    /// Who wants to know that somebody sends, or receives, and takes no part itself.
    watching_senders: Waiters,
    watching_receivers: Waiters,
}

struct State<T> {
    senders: List<T>,
    receivers: List<T>,
    /// Receivers of items that come later: matched meetings.
    promised: List<T>,
    senders_gone: bool,
    receivers_gone: bool,
}

// SAFETY: the lists own counts of meetings, which may be shared by threads if items may move between them.
unsafe impl<T: Send> Send for State<T> {}

impl<T> State<T> {
    fn list(&mut self, senders: bool) -> &mut List<T> {
        if senders { &mut self.senders } else { &mut self.receivers }
    }
}

/// What a receiver found.
pub(super) enum Taken<T> {
    Item(T),
    /// A sender that was selected without its item: it comes to this meeting.
    Later(Arc<Meeting<T>>),
}

/// How a party's meeting stands.
pub(super) enum Stand<T> {
    /// Nobody has come yet, or the item has not.
    Pending,
    /// A receiver has its item, a sender none any more.
    Done(Option<T>),
    /// The other half is gone; a sender has its item back.
    Gone(Option<T>),
}

impl<T> Zero<T> {
    pub(super) fn new() -> Self {
        let state = State {
            senders: List::new(),
            receivers: List::new(),
            promised: List::new(),
            senders_gone: false,
            receivers_gone: false,
        };
        Self {
            state: SpinLock::from_raw(RawSpinLock::new(), state),
            watching_senders: Waiters::new(),
            watching_receivers: Waiters::new(),
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
        // SAFETY: the lock is held.
        let waker = unsafe {
            receiver.with(|party| {
                (party.phase, party.item) = (Phase::Done, Some(item));
                party.waker.take()
            })
        };
        drop(state);
        wake(&receiver, waker);
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
            if sender.with(|party| party.later) {
                state.promised.promise(&sender);
            } else {
                sender.with(|party| party.phase = Phase::Done);
            }
            sender.with(|party| (party.item.take(), party.waker.take()))
        };
        drop(state);
        match item {
            Some(item) => {
                wake(&sender, waker);
                Ok(Taken::Item(item))
            }
            None => {
                if let Some(waker) = waker {
                    quietly(|| waker.wake());
                }
                Ok(Taken::Later(sender))
            }
        }
    }

    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        loop {
            match self.try_take()? {
                Taken::Item(item) => return Ok(item),
                Taken::Later(meeting) => {
                    if let Some(item) = Receiving::of(self, meeting).finish() {
                        return Ok(item);
                    }
                }
            }
        }
    }

    pub(super) fn send(
        &self,
        item: T,
        deadline: Option<Instant>,
    ) -> Result<(), SendTimeoutError<T>> {
        let item = match self.try_send(item) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Disconnected(item)) => {
                return Err(SendTimeoutError::Disconnected(item));
            }
            Err(TrySendError::Full(item)) => item,
        };
        let mut sending = Sending::new(self);
        let mut item = Some(item);
        let sent =
            block(awaited("channel: receiver", self), deadline, &mut sending, |party, cx| {
                party.poll(&mut item, cx)
            });
        let sent = sent.or_else(|| sending.withdraw(&mut item));
        match (sent, item) {
            (Some(Ok(())), _) | (_, None) => Ok(()),
            (Some(Err(())), Some(item)) => Err(SendTimeoutError::Disconnected(item)),
            (None, Some(item)) => Err(SendTimeoutError::Timeout(item)),
        }
    }

    pub(super) fn recv(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        match self.try_recv() {
            Ok(item) => return Ok(item),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) => {}
        }
        let mut receiving = Receiving::new(self);
        let received =
            block(awaited("channel: sender", self), deadline, &mut receiving, Receiving::poll);
        match received.or_else(|| receiving.finish().map(Some)) {
            Some(Some(item)) => Ok(item),
            Some(None) => Err(RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Lists `meeting`, unless there is somebody to meet, or nobody ever will be; whether it is listed.
    pub(super) fn enlist(&self, meeting: &Arc<Meeting<T>>, sender: bool) -> bool {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; only the share is read.
        let share = unsafe { meeting.with(|party| party.share.clone()) };
        let me = share.as_ref().map(|share| &share.claim);
        let gone = if sender { state.receivers_gone } else { state.senders_gone };
        let look = !canary!("channel_meeting_unseen");
        if gone || (look && state.list(!sender).has_open(me)) {
            return false;
        }
        // SAFETY: the lock is held; it is new, or out of the list.
        unsafe { state.list(sender).push(meeting.clone(), false) };
        drop(state);
        let watching = if sender { &self.watching_receivers } else { &self.watching_senders };
        if watching.is_any() {
            watching.notify_all();
        }
        true
    }

    /// How the meeting stands; while it is pending, `waker` will be woken.
    pub(super) fn look(&self, meeting: &Meeting<T>, waker: &Waker) -> Stand<T> {
        let mut new: Option<Waker> = None;
        loop {
            let state = self.state.lock();
            // SAFETY: the lock is held.
            let (stand, old) = unsafe {
                meeting.with(|party| match party.phase {
                    Phase::Done => (Some(Stand::Done(party.item.take())), None),
                    Phase::Idle => (Some(Stand::Gone(party.item.take())), None),
                    Phase::Listed | Phase::Matched | Phase::Left => {
                        let same = |old: &Waker| old.will_wake(waker);
                        if party.waker.as_ref().is_some_and(same) {
                            (Some(Stand::Pending), None)
                        } else if new.is_some() {
                            (Some(Stand::Pending), std::mem::replace(&mut party.waker, new.take()))
                        } else {
                            (None, None)
                        }
                    }
                })
            };
            drop(state);
            // Wakers are cloned and dropped without the lock.
            let_go(old);
            match stand {
                Some(stand) => {
                    let_go(new);
                    return stand;
                }
                None => new = Some(waker.clone()),
            }
        }
    }

    /// Takes a meeting that nobody has come to out of its list; whether it was listed. The item, if there is
    /// one, is the owner's again.
    pub(super) fn withdraw(&self, meeting: &Meeting<T>, sender: bool) -> (bool, Option<T>) {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; what is listed is in the list of its side.
        unsafe {
            if meeting.with(|party| party.phase) != Phase::Listed {
                return (false, None);
            }
            let listed = state.list(sender).unlink(meeting);
            let item = meeting.with(|party| {
                party.phase = Phase::Idle;
                party.item.take()
            });
            drop(state);
            drop(listed);
            (true, item)
        }
    }

    /// A receiver leaves a meeting, listed or not; an item that it was handed goes to the next one.
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

    /// A receiver waits no longer for an item that comes later: its sender will have to look for another. The item, if it
    /// has come.
    pub(super) fn abandon(&self, meeting: &Meeting<T>) -> Option<T> {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; a matched meeting is among the promised ones.
        let (item, left) = unsafe {
            let matched = meeting.with(|party| party.phase) == Phase::Matched;
            let left = matched.then(|| state.promised.unlink(meeting));
            let item = meeting.with(|party| {
                if matched {
                    party.phase = Phase::Left;
                }
                party.item.take()
            });
            (item, left)
        };
        drop(state);
        drop(left);
        item
    }

    /// An item whose receiver has left after it was handed over: the next one gets it.
    pub(super) fn put_back(&self, meeting: Arc<Meeting<T>>, item: T) {
        let mut state = self.state.lock();
        let (receiver, waker) = match state.receivers.claim_first(None) {
            // SAFETY: the lock is held.
            Some(receiver) => unsafe {
                let waker = receiver.with(|party| {
                    (party.phase, party.item) = (Phase::Done, Some(item));
                    party.waker.take()
                });
                (receiver, waker)
            },
            None if state.receivers_gone => {
                drop(state);
                return drop(item);
            }
            // SAFETY: the lock is held; the meeting is over, and nobody else uses it any more.
            None => unsafe {
                // What the receiver left goes without the lock: a waker's destructor is user's code.
                let left = meeting.with(|party| {
                    (party.item, party.later) = (Some(item), false);
                    (party.waker.take(), party.share.take())
                });
                state.senders.push(meeting, true);
                drop(state);
                let_go(left.0);
                return self.watching_receivers.notify_all();
            },
        };
        drop(state);
        wake(&receiver, waker);
    }

    /// The sender was selected without its item. `false`: the receiver was too, and has left.
    pub(super) fn fill(&self, meeting: &Arc<Meeting<T>>, item: &mut Option<T>) -> bool {
        let mut state = self.state.lock();
        // SAFETY: the lock is held; a matched meeting is among the promised ones.
        let (listed, waker) = unsafe {
            if meeting.with(|party| party.phase) != Phase::Matched {
                return false;
            }
            let listed = state.promised.unlink(&**meeting);
            let waker = meeting.with(|party| {
                (party.phase, party.item) = (Phase::Done, item.take());
                party.waker.take()
            });
            (listed, waker)
        };
        drop(state);
        wake(&listed, waker);
        true
    }

    pub(super) fn try_select_send(&self, token: &mut Token) -> bool {
        let mut state = self.state.lock();
        token.pledge = match state.receivers.claim_first(None) {
            _ if state.receivers_gone => Pledge::Gone,
            None => return false,
            Some(receiver) => {
                // SAFETY: the lock is held, and the meeting is in no list.
                unsafe { state.promised.promise(&receiver) };
                Pledge::Meeting(Arc::into_raw(receiver).cast())
            }
        };
        true
    }

    pub(super) fn try_select_recv(&self, token: &mut Token) -> bool {
        match self.try_recv() {
            Ok(item) => token.item.put(Some(item)),
            Err(TryRecvError::Disconnected) => {}
            Err(TryRecvError::Empty) => return false,
        }
        true
    }

    pub(super) fn redeem(&self, pledge: Pledge, item: T) -> Result<(), T> {
        let Pledge::Meeting(meeting) = pledge else { return Err(item) };
        // SAFETY: a pledge of this channel owns a count of its meeting, and is used once.
        let meeting = unsafe { Arc::from_raw(meeting.cast::<Meeting<T>>()) };
        let mut item = Some(item);
        if self.fill(&meeting, &mut item) {
            return Ok(());
        }
        match item {
            Some(item) => self.send(item, None).map_err(SendTimeoutError::into_inner),
            None => Ok(()),
        }
    }

    pub(super) fn waive(&self, pledge: Pledge) {
        if let Pledge::Meeting(meeting) = pledge {
            // SAFETY: as in `redeem`.
            let meeting = unsafe { Arc::from_raw(meeting.cast::<Meeting<T>>()) };
            self.fill(&meeting, &mut None);
        }
    }

    /// Whether somebody sends, or nobody ever will.
    pub(super) fn is_poppable(&self) -> bool {
        let state = self.state.lock();
        state.senders_gone || state.senders.has_open(None)
    }

    /// Whether somebody receives, or nobody ever will.
    pub(super) fn is_pushable(&self) -> bool {
        let state = self.state.lock();
        state.receivers_gone || state.receivers.has_open(None)
    }

    pub(super) fn wait_recv(&self, share: Share) -> Option<Pin<Box<dyn Wait + '_>>> {
        let meeting = Meeting::new(None, park::current_waker(), Some(share), false);
        self.enlist(&meeting, false).then(|| Box::pin(Receiving::of(self, meeting)) as _)
    }

    pub(super) fn wait_send(&self, share: Share) -> Option<Pin<Box<dyn Wait + '_>>> {
        let meeting = Meeting::new(None, park::current_waker(), Some(share), true);
        self.enlist(&meeting, true).then(|| Box::pin(Sending::of(self, meeting)) as _)
    }

    pub(super) fn watch_recv(&self) -> Option<Pin<Box<dyn Wait + '_>>> {
        Queued::join(&self.watching_receivers, || self.is_poppable())
    }

    pub(super) fn watch_send(&self) -> Option<Pin<Box<dyn Wait + '_>>> {
        Queued::join(&self.watching_senders, || self.is_pushable())
    }

    /// Tells those who wait on one side that the other is gone.
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
        // Nobody is listed from now on.
        panics.catch(|| run_to_end(|| self.dismiss_one(senders)));
        let watching = if senders { &self.watching_senders } else { &self.watching_receivers };
        panics.catch(|| watching.notify_all());
        panics.resume();
    }

    /// False if nobody waits on that side. A meeting without an owner goes, and its item with it.
    fn dismiss_one(&self, senders: bool) -> bool {
        let mut state = self.state.lock();
        let listed = state.list(senders).pop();
        // No sender is left, so what was promised was forgotten.
        let promised = || state.promised.pop();
        let alone = senders || canary!("channel_promise_unlisted");
        let Some(meeting) = (if alone { listed } else { listed.or_else(promised) }) else {
            return false;
        };
        // SAFETY: the lock is held.
        let waker = unsafe {
            meeting.with(|party| {
                party.phase = Phase::Idle;
                party.waker.take()
            })
        };
        drop(state);
        wake(&meeting, waker);
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
