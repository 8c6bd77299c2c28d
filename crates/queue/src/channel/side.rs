//! The parties of a channel without a buffer while they wait.

use super::error::{TryRecvError, TrySendError};
use super::meeting::Meeting;
use super::token::{Pledge, Token};
use super::wait::Wait;
use super::waiters::{Patience, has_passed, quietly};
use super::zero::{Stand, Taken, Zero};
use sateen_base::prim::time::{Duration, Instant};
use sateen_sync::park::{self, Awaited};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Tells the owner of a meeting that there is something to see. Called without the lock.
pub(super) fn wake<T>(meeting: &Meeting<T>, waker: Option<Waker>) {
    meeting.settle();
    if let Some(waker) = waker {
        quietly(|| waker.wake());
    }
}

/// Blocks until `poll` of the party is ready; `None` if it is not before `deadline`. Polled once at least, but if
/// the deadline has passed.
pub(super) fn block<P: Party, R>(
    what: Awaited,
    deadline: Option<Instant>,
    party: &mut P,
    mut poll: impl FnMut(&mut P, &mut Context<'_>) -> Poll<R>,
) -> Option<R> {
    if deadline.is_some_and(has_passed) && cfg!(not(loom)) {
        return None;
    }
    let waker = park::current_waker();
    let mut cx = Context::from_waker(&waker);
    if let Poll::Ready(result) = poll(party, &mut cx) {
        return Some(result);
    }
    let mut patience = Patience::new(None);
    while !party.is_settled() && patience.wait() {}
    park::waiting_for(what, || {
        loop {
            if party.is_settled()
                && let Poll::Ready(result) = poll(party, &mut cx)
            {
                return Some(result);
            }
            match deadline {
                Some(deadline) => park::park_until(deadline),
                None => park::park(),
            }
            if !party.is_settled() && deadline.is_some_and(has_passed) {
                return None;
            }
        }
    })
}

/// Somebody who waits.
pub(super) trait Party {
    /// Whether there is something to see: a hint.
    fn is_settled(&self) -> bool;
}

/// A receiver. Dropped, it leaves; an item that it was handed goes to another.
pub(super) struct Receiving<'a, T> {
    zero: &'a Zero<T>,
    meeting: Option<Arc<Meeting<T>>>,
}

impl<T> Party for Receiving<'_, T> {
    fn is_settled(&self) -> bool {
        self.meeting.as_ref().is_none_or(|meeting| meeting.is_settled())
    }
}

impl<'a, T> Receiving<'a, T> {
    pub(super) fn new(zero: &'a Zero<T>) -> Self {
        Self { zero, meeting: None }
    }

    /// One whose meeting is listed or matched.
    pub(super) fn of(zero: &'a Zero<T>, meeting: Arc<Meeting<T>>) -> Self {
        Self { zero, meeting: Some(meeting) }
    }

    /// Ready with an item, or with `None` when there will never be one.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        loop {
            if let Some(meeting) = &self.meeting {
                let stand = self.zero.look(meeting, cx.waker());
                if let Stand::Pending = stand {
                    return Poll::Pending;
                }
                self.meeting = None;
                match stand {
                    Stand::Done(Some(item)) => return Poll::Ready(Some(item)),
                    Stand::Gone(_) => return Poll::Ready(None),
                    // The sender gave up: another may come.
                    Stand::Done(None) | Stand::Pending => {}
                }
            }
            match self.zero.try_take() {
                Ok(Taken::Item(item)) => return Poll::Ready(Some(item)),
                Ok(Taken::Later(meeting)) => self.meeting = Some(meeting),
                Err(TryRecvError::Disconnected) => return Poll::Ready(None),
                Err(TryRecvError::Empty) => {
                    let meeting = Meeting::new(None, cx.waker().clone(), None, false);
                    if self.zero.enlist(&meeting, false) {
                        self.meeting = Some(meeting);
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    /// How long one waits for the item of a sender that was chosen, when one would wait no longer.
    const GRACE: Duration = Duration::from_millis(10);

    /// Waits no longer for somebody to come; but if somebody has, a moment for the item. `None` if there is none: its sender may
    /// have forgotten it.
    pub(super) fn finish(&mut self) -> Option<T> {
        let zero = self.zero;
        if zero.withdraw(self.meeting.as_ref()?, false).0 {
            self.meeting = None;
            return None;
        }
        let what = super::waiters::awaited("channel: item", zero);
        let limit = Instant::now().checked_add(Self::GRACE);
        let item = block(what, limit, self, |party, cx| {
            let Some(meeting) = &party.meeting else { return Poll::Ready(None) };
            let item = match zero.look(meeting, cx.waker()) {
                Stand::Pending => return Poll::Pending,
                Stand::Done(item) => item,
                Stand::Gone(_) => None,
            };
            party.meeting = None;
            Poll::Ready(item)
        });
        item.unwrap_or_else(|| self.meeting.take().and_then(|meeting| zero.abandon(&meeting)))
    }
}

impl<T> Wait for Receiving<'_, T> {
    fn is_woken(self: Pin<&mut Self>) -> bool {
        self.is_settled()
    }

    fn complete(mut self: Pin<&mut Self>, token: &mut Token) -> bool {
        let item = self.finish();
        let done = item.is_some();
        token.item.put(item);
        done
    }

    fn settle(self: Pin<&mut Self>) {}
}

impl<T> Drop for Receiving<'_, T> {
    fn drop(&mut self) {
        if let Some(meeting) = self.meeting.take() {
            self.zero.leave(meeting);
        }
    }
}

/// A sender. Dropped, it leaves, and its item with it.
pub(super) struct Sending<'a, T> {
    zero: &'a Zero<T>,
    meeting: Option<Arc<Meeting<T>>>,
}

impl<T> Party for Sending<'_, T> {
    fn is_settled(&self) -> bool {
        self.meeting.as_ref().is_none_or(|meeting| meeting.is_settled())
    }
}

impl<'a, T> Sending<'a, T> {
    pub(super) fn new(zero: &'a Zero<T>) -> Self {
        Self { zero, meeting: None }
    }

    /// One whose meeting is listed, and whose item comes later.
    pub(super) fn of(zero: &'a Zero<T>, meeting: Arc<Meeting<T>>) -> Self {
        Self { zero, meeting: Some(meeting) }
    }

    /// Whether the item lies in a meeting.
    pub(super) fn is_waiting(&self) -> bool {
        self.meeting.is_some()
    }

    /// Sends the item, which is there at the first call and lies in the meeting while this is pending; after an
    /// error it is there again.
    pub(super) fn poll(
        &mut self,
        item: &mut Option<T>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ()>> {
        loop {
            if let Some(meeting) = &self.meeting {
                match self.zero.look(meeting, cx.waker()) {
                    Stand::Pending => return Poll::Pending,
                    Stand::Done(_) => {
                        self.meeting = None;
                        return Poll::Ready(Ok(()));
                    }
                    Stand::Gone(back) => {
                        (self.meeting, *item) = (None, back);
                        return Poll::Ready(Err(()));
                    }
                }
            }
            let Some(sent) = item.take() else { return Poll::Ready(Ok(())) };
            match self.zero.try_send(sent) {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(TrySendError::Disconnected(back)) => {
                    *item = Some(back);
                    return Poll::Ready(Err(()));
                }
                Err(TrySendError::Full(back)) => {
                    *item = Some(back);
                    // Before the item leaves its place: a clone that panics must not take it along.
                    let waker = cx.waker().clone();
                    let meeting = Meeting::new(item.take(), waker, None, false);
                    if self.zero.enlist(&meeting, true) {
                        self.meeting = Some(meeting);
                        return Poll::Pending;
                    }
                    *item = Meeting::into_item(meeting);
                }
            }
        }
    }

    /// The time is over: `None`, and the item back, unless the outcome is known after all.
    pub(super) fn withdraw(&mut self, item: &mut Option<T>) -> Option<Result<(), ()>> {
        let meeting = self.meeting.take()?;
        let (listed, back) = self.zero.withdraw(&meeting, true);
        if listed {
            *item = back;
            return None;
        }
        match self.zero.look(&meeting, Waker::noop()) {
            Stand::Gone(back) => {
                *item = back;
                Some(Err(()))
            }
            _ => Some(Ok(())),
        }
    }
}

impl<T> Wait for Sending<'_, T> {
    fn is_woken(self: Pin<&mut Self>) -> bool {
        self.is_settled()
    }

    fn complete(mut self: Pin<&mut Self>, token: &mut Token) -> bool {
        let Some(meeting) = self.meeting.take() else { return false };
        token.pledge = Pledge::Meeting(Arc::into_raw(meeting).cast());
        true
    }

    fn settle(self: Pin<&mut Self>) {}
}

impl<T> Drop for Sending<'_, T> {
    fn drop(&mut self) {
        let Some(meeting) = self.meeting.take() else { return };
        if !self.zero.withdraw(&meeting, true).0 {
            // Claimed for an item that will not come.
            self.zero.fill(&meeting, &mut None);
        }
    }
}
