//! The two sides of a channel without a buffer, while they wait.

use super::error::{TryRecvError, TrySendError};
use super::meeting::Meeting;
use super::spin_phase::{SpinPhase, has_passed};
use super::token::{Reservation, Token};
use super::wait::Wait;
use super::waiters::awaited;
use super::zero::{Taken, Zero};
use sateen_base::prim::time::{Duration, Instant};
use sateen_sync::park::{self, Awaited};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// Blocks until `poll` of the side is ready; `None` if the deadline comes first. Polls at least
/// once, unless the deadline has passed.
pub(super) fn block<S: Side, R>(
    what: Awaited,
    deadline: Option<Instant>,
    side: &mut S,
    mut poll: impl FnMut(&mut S, &mut Context<'_>) -> Poll<R>,
) -> Option<R> {
    if deadline.is_some_and(has_passed) && cfg!(not(loom)) {
        return None;
    }
    let waker = park::current_waker();
    let mut cx = Context::from_waker(&waker);
    if let Poll::Ready(result) = poll(side, &mut cx) {
        return Some(result);
    }
    let mut spin = SpinPhase::new(None);
    while !side.is_resolved() && spin.pause() {}
    park::waiting_for(what, || {
        loop {
            if side.is_resolved()
                && let Poll::Ready(result) = poll(side, &mut cx)
            {
                return Some(result);
            }
            match deadline {
                Some(deadline) => park::park_until(deadline),
                None => park::park(),
            }
            if !side.is_resolved() && deadline.is_some_and(has_passed) {
                return None;
            }
        }
    })
}

/// A sender or a receiver that waits.
pub(super) trait Side {
    /// Whether there is something to see: a hint.
    fn is_resolved(&self) -> bool;
}

/// A receiver. Dropped, it leaves; an item that it was told of goes to another receiver.
pub(super) struct Receiving<'a, T> {
    zero: &'a Zero<T>,
    meeting: Option<Arc<Meeting<T>>>,
}

impl<T> Side for Receiving<'_, T> {
    fn is_resolved(&self) -> bool {
        self.meeting.as_ref().is_none_or(|meeting| meeting.is_resolved())
    }
}

impl<'a, T> Receiving<'a, T> {
    pub(super) fn new(zero: &'a Zero<T>) -> Self {
        Self { zero, meeting: None }
    }

    /// A receiver whose meeting is listed or matched.
    pub(super) fn of(zero: &'a Zero<T>, meeting: Arc<Meeting<T>>) -> Self {
        Self { zero, meeting: Some(meeting) }
    }

    /// Ready with an item, or with `None` when there will never be one.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // A receiver that was told of an item and finds none is first in line again.
        let mut again = false;
        loop {
            if let Some(meeting) = &self.meeting {
                let item = ready!(self.zero.poll_received(meeting, cx.waker()));
                self.meeting = None;
                if item.is_some() {
                    return Poll::Ready(item);
                }
                again = true;
            }
            match self.zero.try_take(false) {
                Ok(Taken::Item(item)) => return Poll::Ready(Some(item)),
                Ok(Taken::Later(meeting)) => self.meeting = Some(meeting),
                Err(TryRecvError::Disconnected) => return Poll::Ready(None),
                Err(TryRecvError::Empty) => {
                    let meeting = Meeting::new(None, cx.waker().clone(), None, false);
                    if self.zero.enlist(&meeting, false, again) {
                        self.meeting = Some(meeting);
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    /// How long a receiver whose time limit has passed still waits for the item of a matched
    /// sender.
    const ITEM_TIMEOUT: Duration = Duration::from_millis(10);

    /// Stops waiting for a sender; waits a moment for the item of a sender that has come. `None` if
    /// there is no item: the sender may have forgotten it.
    pub(super) fn finish(&mut self) -> Option<T> {
        let zero = self.zero;
        let Some(meeting) = &self.meeting else { return zero.try_recv().ok() };
        if let Ok(item) = zero.stop(meeting, false) {
            self.meeting = None;
            return item;
        }
        let what = awaited("channel: item", zero);
        let limit = Instant::now().checked_add(Self::ITEM_TIMEOUT);
        let item = block(what, limit, self, |side, cx| {
            let Some(meeting) = &side.meeting else { return Poll::Ready(None) };
            let item = ready!(zero.poll_received(meeting, cx.waker()));
            side.meeting = None;
            Poll::Ready(item)
        });
        item.unwrap_or_else(|| self.meeting.take().and_then(|m| zero.stop(&m, true).ok().flatten()))
    }
}

impl<T> Wait for Receiving<'_, T> {
    fn is_woken(self: Pin<&mut Self>) -> bool {
        self.is_resolved()
    }

    fn complete(mut self: Pin<&mut Self>, token: &mut Token) -> bool {
        let item = self.finish();
        let done = item.is_some();
        token.item.put(item);
        done
    }

    fn keep_permit(self: Pin<&mut Self>) {}
}

impl<T> Drop for Receiving<'_, T> {
    fn drop(&mut self) {
        if let Some(meeting) = self.meeting.take() {
            self.zero.leave(&meeting);
        }
    }
}

/// A send future. It holds its item until it sends it in a poll. Dropped, it leaves.
pub(super) struct Offering<'a, T> {
    zero: &'a Zero<T>,
    meeting: Option<Arc<Meeting<T>>>,
}

impl<'a, T> Offering<'a, T> {
    pub(super) fn new(zero: &'a Zero<T>) -> Self {
        Self { zero, meeting: None }
    }

    /// Sends `item`, which is there until it is sent.
    pub(super) fn poll(
        &mut self,
        item: &mut Option<T>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ()>> {
        if item.is_none() {
            return Poll::Ready(Ok(()));
        }
        self.zero.offer(&mut self.meeting, item, cx.waker())
    }
}

impl<T> Drop for Offering<'_, T> {
    fn drop(&mut self) {
        if let Some(meeting) = self.meeting.take() {
            self.zero.retract(&meeting);
        }
    }
}

/// A thread or fiber that sends. Dropped, it leaves, and takes its item along.
pub(super) struct Sending<'a, T> {
    zero: &'a Zero<T>,
    meeting: Option<Arc<Meeting<T>>>,
}

impl<T> Side for Sending<'_, T> {
    fn is_resolved(&self) -> bool {
        self.meeting.as_ref().is_none_or(|meeting| meeting.is_resolved())
    }
}

impl<'a, T> Sending<'a, T> {
    pub(super) fn new(zero: &'a Zero<T>) -> Self {
        Self { zero, meeting: None }
    }

    /// A sender whose meeting is listed, and whose item comes later.
    pub(super) fn of(zero: &'a Zero<T>, meeting: Arc<Meeting<T>>) -> Self {
        Self { zero, meeting: Some(meeting) }
    }

    /// Sends the item. `item` holds it at the first call and again after an error; while the send
    /// is pending, the item lies in the meeting.
    pub(super) fn poll(
        &mut self,
        item: &mut Option<T>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ()>> {
        loop {
            if let Some(meeting) = &self.meeting {
                let sent = ready!(self.zero.poll_sent(meeting, cx.waker()));
                self.meeting = None;
                return Poll::Ready(sent.map_err(|back| *item = back));
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
                    // Before the item is taken: a waker whose clone panics must not take it along.
                    let waker = cx.waker().clone();
                    let meeting = Meeting::new(item.take(), waker, None, false);
                    if self.zero.enlist(&meeting, true, false) {
                        self.meeting = Some(meeting);
                        return Poll::Pending;
                    }
                    *item = Meeting::into_item(meeting);
                }
            }
        }
    }

    /// The time limit has passed: `None`, with the item back, unless the outcome is known after
    /// all.
    pub(super) fn withdraw(&mut self, item: &mut Option<T>) -> Option<Result<(), ()>> {
        let meeting = self.meeting.take()?;
        let (listed, back) = self.zero.withdraw(&meeting);
        if listed {
            *item = back;
            return None;
        }
        match self.zero.poll_sent(&meeting, Waker::noop()) {
            Poll::Ready(Err(back)) => {
                *item = back;
                Some(Err(()))
            }
            _ => Some(Ok(())),
        }
    }
}

impl<T> Wait for Sending<'_, T> {
    fn is_woken(self: Pin<&mut Self>) -> bool {
        self.is_resolved()
    }

    fn complete(mut self: Pin<&mut Self>, token: &mut Token) -> bool {
        let Some(meeting) = self.meeting.take() else { return false };
        token.reservation = Reservation::Meeting(Arc::into_raw(meeting).cast());
        true
    }

    fn keep_permit(self: Pin<&mut Self>) {}
}

impl<T> Drop for Sending<'_, T> {
    fn drop(&mut self) {
        let Some(meeting) = self.meeting.take() else { return };
        if !self.zero.withdraw(&meeting).0 {
            // A receiver waits for an item that will not come.
            self.zero.fill(&meeting, &mut None);
        }
    }
}
