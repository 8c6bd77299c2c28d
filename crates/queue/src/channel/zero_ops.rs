//! The operations of a channel without a buffer: what blocks, and what selections use.

use super::error::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};
use super::meeting::Meeting;
use super::side::{Receiving, Sending, block};
use super::token::{Reservation, Token};
use super::wait::{Case, Wait};
use super::waiters::awaited;
use super::zero::{Taken, Zero};
use sateen_base::prim::time::Instant;
use sateen_sync::park;
use std::pin::Pin;
use std::sync::Arc;

impl<T> Zero<T> {
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        self.take(true)
    }

    /// Takes an item that is there. A caller that will not wait if there is none `leaves`.
    fn take(&self, leaves: bool) -> Result<T, TryRecvError> {
        loop {
            match self.try_take(leaves)? {
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
        let what = awaited("channel: receiver", self);
        let sent = block(what, deadline, &mut sending, |side, cx| side.poll(&mut item, cx));
        let sent = sent.or_else(|| sending.withdraw(&mut item));
        match (sent, item) {
            (Some(Ok(())), _) | (_, None) => Ok(()),
            (Some(Err(())), Some(item)) => Err(SendTimeoutError::Disconnected(item)),
            (None, Some(item)) => Err(SendTimeoutError::Timeout(item)),
        }
    }

    pub(super) fn recv(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        match self.take(false) {
            Ok(item) => return Ok(item),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            Err(TryRecvError::Empty) => {}
        }
        let mut receiving = Receiving::new(self);
        let what = awaited("channel: sender", self);
        let received = block(what, deadline, &mut receiving, Receiving::poll);
        match received.or_else(|| receiving.finish().map(Some)) {
            Some(Some(item)) => Ok(item),
            Some(None) => Err(RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    pub(super) fn try_select_send(&self, token: &mut Token) -> bool {
        match self.reserve() {
            Some(reservation) => {
                token.reservation = reservation;
                true
            }
            None => false,
        }
    }

    pub(super) fn try_select_recv(&self, token: &mut Token) -> bool {
        match self.try_recv() {
            Ok(item) => token.item.put(Some(item)),
            Err(TryRecvError::Disconnected) => {}
            Err(TryRecvError::Empty) => return false,
        }
        true
    }

    /// The item of a reservation comes.
    pub(super) fn commit(&self, reservation: Reservation, item: T) -> Result<(), T> {
        let Reservation::Meeting(meeting) = reservation else { return Err(item) };
        // SAFETY: a reservation of this channel owns a count of its meeting, and is used once.
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

    /// The item of a reservation does not come.
    pub(super) fn abort(&self, reservation: Reservation) {
        if let Reservation::Meeting(meeting) = reservation {
            // SAFETY: as in `commit`.
            let meeting = unsafe { Arc::from_raw(meeting.cast::<Meeting<T>>()) };
            self.fill(&meeting, &mut None);
        }
    }

    pub(super) fn wait_recv(&self, case: Case) -> Option<Pin<Box<dyn Wait + '_>>> {
        let meeting = Meeting::new(None, park::current_waker(), Some(case), false);
        self.enlist(&meeting, false, false).then(|| Box::pin(Receiving::of(self, meeting)) as _)
    }

    pub(super) fn wait_send(&self, case: Case) -> Option<Pin<Box<dyn Wait + '_>>> {
        let meeting = Meeting::new(None, park::current_waker(), Some(case), true);
        self.enlist(&meeting, true, false).then(|| Box::pin(Sending::of(self, meeting)) as _)
    }
}
