//! Channels with a buffer: a queue that callers can wait for. Protocol and proof: `README.md`
//! beside this file.

use super::buffer::Buffer;
use super::counted::Channel;
use super::error::{RecvTimeoutError, SendTimeoutError};
use super::token::{Reservation, Token};
use super::wait::{Queued, Wait};
use super::waiters::{self, End, Side, awaited};
use crate::{PopError, PushError, TrustedItems};
use sateen_base::CachePadded;
use sateen_base::prim::time::Instant;
use sateen_base::prim::{Ordering, fence};
use sateen_base::unwind::run_to_end;
use sateen_sync::wait_queue::Waiter;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A channel with a buffer.
pub(super) struct Buffered<Q> {
    queue: Q,
    /// Read by all callers, written when one of them waits or is woken.
    waiting: CachePadded<Waiting>,
}

struct Waiting {
    receivers: End,
    senders: End,
}

impl<Q: Buffer> Buffered<Q> {
    pub(super) fn new(queue: Q) -> Self {
        let waiting = Waiting { receivers: End::new(), senders: End::new() };
        Self { queue, waiting: CachePadded::new(waiting) }
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn capacity(&self) -> Option<usize> {
        self.queue.capacity()
    }

    #[inline]
    pub(super) fn try_send(&self, item: Q::Item) -> Result<(), PushError<Q::Item>> {
        self.send_or_look(item, true)
    }

    #[inline(always)]
    fn send_or_look(&self, item: Q::Item, looks: bool) -> Result<(), PushError<Q::Item>> {
        match self.queue.push(item, looks) {
            Ok(()) => {
                self.waiting.receivers.notify_one();
                Ok(())
            }
            Err(PushError::Full(item)) => {
                if looks {
                    self.ask_for_room();
                }
                Err(PushError::Full(item))
            }
            closed => closed,
        }
    }

    /// There is no room. Wakes a sleeping receiver if it would make some by passing over a
    /// reservation: it went to sleep before that was made.
    #[cold]
    fn ask_for_room(&self) {
        if self.queue.is_full_behind_reservation() {
            self.waiting.receivers.notify_one();
        }
    }

    /// Whether a sender should try instead of sleeping, because there is room, or a receiver to ask
    /// for it. A hint of that receiver is enough: a sender looks after its fence.
    fn is_worth_trying(&self) -> bool {
        self.queue.is_pushable()
            || (self.waiting.receivers.has_waiters() && self.queue.is_full_behind_reservation())
    }

    #[inline]
    pub(super) fn try_recv(&self) -> Result<Q::Item, PopError> {
        self.recv_or_look(true)
    }

    #[inline(always)]
    fn recv_or_look(&self, looks: bool) -> Result<Q::Item, PopError> {
        let mut skipped = 0;
        let result = self.queue.pop(&mut skipped, looks);
        if Q::LIMITED {
            if skipped > 0 {
                self.waiting.senders.notify(skipped);
            }
            if result.is_ok() {
                self.waiting.senders.notify_one();
            }
        }
        result
    }

    #[inline]
    pub(super) fn send(
        &self,
        item: Q::Item,
        deadline: Option<Instant>,
    ) -> Result<(), SendTimeoutError<Q::Item>> {
        match self.send_or_look(item, false) {
            Ok(()) => Ok(()),
            Err(PushError::Full(item)) => self.send_slow(item, deadline),
            Err(PushError::Closed(item)) => Err(SendTimeoutError::Disconnected(item)),
        }
    }

    #[cold]
    fn send_slow(
        &self,
        item: Q::Item,
        deadline: Option<Instant>,
    ) -> Result<(), SendTimeoutError<Q::Item>> {
        let mut item = Some(item);
        let what = awaited("channel: room", self);
        let sent = waiters::block(&self.waiting.senders, what, deadline, &Room(self), || {
            self.attempt(&mut item)
        });
        match (sent, item) {
            (Some(Ok(())), _) | (_, None) => Ok(()),
            (Some(Err(())), Some(item)) => Err(SendTimeoutError::Disconnected(item)),
            (None, Some(item)) => Err(SendTimeoutError::Timeout(item)),
        }
    }

    /// Sends the item if that is possible now; an error if it never will be.
    fn attempt(&self, item: &mut Option<Q::Item>) -> Option<Result<(), ()>> {
        match self.try_send(item.take()?) {
            Ok(()) => Some(Ok(())),
            Err(PushError::Full(back)) => {
                *item = Some(back);
                None
            }
            Err(PushError::Closed(back)) => {
                *item = Some(back);
                Some(Err(()))
            }
        }
    }

    /// Sends as many as there is room for at once, and waits for room for one. Returns how many, or
    /// an error if there will never be room; then no item was taken from `items`.
    pub(super) fn send_some<I: TrustedItems<Item = Q::Item>>(
        &self,
        items: &mut I,
    ) -> Result<usize, Option<Q::Item>> {
        let mut attempt = || match self.queue.push_from(items) {
            Ok(count) => Some(Ok(count)),
            Err(PushError::Full(())) => {
                self.ask_for_room();
                None
            }
            Err(PushError::Closed(())) => Some(Err(None)),
        };
        let what = awaited("channel: room", self);
        let sent = match attempt() {
            Some(sent) => sent,
            None => {
                let sent = waiters::block(&self.waiting.senders, what, None, &Room(self), attempt);
                sent.unwrap_or(Err(None))
            }
        };
        if let Ok(count) = sent {
            self.waiting.receivers.notify(count);
        }
        sent
    }

    #[inline]
    pub(super) fn recv(&self, deadline: Option<Instant>) -> Result<Q::Item, RecvTimeoutError> {
        match self.recv_or_look(false) {
            Ok(item) => Ok(item),
            Err(PopError::Closed) => Err(RecvTimeoutError::Disconnected),
            Err(PopError::Empty) => self.recv_slow(deadline),
        }
    }

    #[cold]
    fn recv_slow(&self, deadline: Option<Instant>) -> Result<Q::Item, RecvTimeoutError> {
        let what = awaited("channel: item", self);
        let received =
            waiters::block(&self.waiting.receivers, what, deadline, &Items(self), || {
                self.received()
            });
        match received {
            Some(Some(item)) => Ok(item),
            Some(None) => Err(RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// An item if there is one; `Some(None)` if there will never be one.
    fn received(&self) -> Option<Option<Q::Item>> {
        match self.try_recv() {
            Ok(item) => Some(Some(item)),
            Err(PopError::Closed) => Some(None),
            Err(PopError::Empty) => None,
        }
    }

    /// Takes up to `max` of the items that are there; returns how many.
    pub(super) fn try_recv_into(
        &self,
        buf: &mut Vec<Q::Item>,
        max: usize,
    ) -> Result<usize, PopError> {
        let mut freed = 0;
        let result = self.queue.pop_into(buf, max, &mut freed);
        freed += result.unwrap_or(0);
        if Q::LIMITED && freed > 0 {
            self.waiting.senders.notify(freed);
        }
        result
    }

    /// The same, but waits for at least one; `None` if there will never be one.
    pub(super) fn recv_into(&self, buf: &mut Vec<Q::Item>, max: usize) -> Option<usize> {
        let mut attempt = || match self.try_recv_into(buf, max) {
            Ok(count) => Some(Some(count)),
            Err(PopError::Closed) => Some(None),
            Err(PopError::Empty) => None,
        };
        let what = awaited("channel: item", self);
        attempt().unwrap_or_else(|| {
            waiters::block(&self.waiting.receivers, what, None, &Items(self), attempt).flatten()
        })
    }

    /// A waiter for [`Buffered::poll_send`].
    pub(super) fn sending(&self) -> Waiter<'_> {
        self.waiting.senders.waiter()
    }

    /// A waiter for [`Buffered::poll_recv`].
    pub(super) fn receiving(&self) -> Waiter<'_> {
        self.waiting.receivers.waiter()
    }

    /// Sends `item`, which must be there, and is there again after an error.
    pub(super) fn poll_send(
        &self,
        waiter: Pin<&mut Waiter<'_>>,
        item: &mut Option<Q::Item>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ()>> {
        let ready = || self.is_worth_trying();
        waiters::poll(&self.waiting.senders, waiter, cx, ready, || self.attempt(item))
    }

    /// `None`: there will never be an item.
    pub(super) fn poll_recv(
        &self,
        waiter: Pin<&mut Waiter<'_>>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Q::Item>> {
        let ready = || self.queue.is_poppable();
        waiters::poll(&self.waiting.receivers, waiter, cx, ready, || self.received())
    }

    pub(super) fn try_select_send(&self, token: &mut Token) -> bool {
        token.reservation = match self.queue.reserve() {
            Ok(reservation) => reservation,
            Err(PushError::Closed(())) => Reservation::Disconnected,
            Err(PushError::Full(())) => {
                self.ask_for_room();
                return false;
            }
        };
        true
    }

    pub(super) fn try_select_recv(&self, token: &mut Token) -> bool {
        let Some(item) = self.received() else { return false };
        token.item.put(item);
        true
    }

    pub(super) fn commit(&self, reservation: Reservation, item: Q::Item) -> Result<(), Q::Item> {
        let in_slot = matches!(reservation, Reservation::Slot(_));
        match self.queue.commit(reservation, item) {
            Ok(()) => {}
            // Passed over: it is sent like any other.
            Err(item) if in_slot => {
                return self.send(item, None).map_err(SendTimeoutError::into_inner);
            }
            Err(item) => return Err(item),
        }
        if in_slot && self.queue.is_closed() {
            // No receiver will take it, nor the items behind it.
            self.receivers_gone();
        } else {
            self.after_reservation();
        }
        Ok(())
    }

    /// Drops no items, because they may belong to another thread. Items that no receiver will take
    /// are dropped with the channel.
    pub(super) fn abort(&self, reservation: Reservation) {
        self.queue.abort(reservation);
        self.after_reservation();
    }

    /// A reserved slot was filled or aborted: a sleeping receiver takes the item, or makes the slot
    /// room again. Items behind it have brought permits of their own.
    fn after_reservation(&self) {
        // Ordering: SeqCst, between the item and the flag: see `WaitPoint::notify_one_unfenced`.
        fence(Ordering::SeqCst);
        self.waiting.receivers.notify_one();
    }

    pub(super) fn is_poppable(&self) -> bool {
        self.queue.is_poppable()
    }

    pub(super) fn is_pushable(&self) -> bool {
        self.queue.is_pushable()
    }

    /// Waits until there may be an item; `None` if there is.
    pub(super) fn wait_recv(&self) -> Option<Pin<Box<dyn Wait + '_>>> {
        Queued::join(&self.waiting.receivers, || self.queue.is_poppable())
    }

    /// Waits until there may be room; `None` if there is.
    pub(super) fn wait_send(&self) -> Option<Pin<Box<dyn Wait + '_>>> {
        Queued::join(&self.waiting.senders, || self.is_worth_trying())
    }
}

/// What receivers wait for.
struct Items<'a, Q>(&'a Buffered<Q>);

impl<Q: Buffer> Side for Items<'_, Q> {
    fn is_ready(&self) -> bool {
        self.0.queue.is_poppable()
    }

    fn count(&self) -> usize {
        self.0.queue.len()
    }

    #[inline(always)]
    fn seems_ready(&self) -> bool {
        self.0.queue.seems_poppable()
    }

    fn first_pauses(&self) -> u32 {
        Q::FIRST_PAUSES
    }
}

/// What senders wait for.
struct Room<'a, Q>(&'a Buffered<Q>);

impl<Q: Buffer> Side for Room<'_, Q> {
    fn is_ready(&self) -> bool {
        self.0.is_worth_trying()
    }

    fn count(&self) -> usize {
        self.0.queue.capacity().map_or(1, |capacity| capacity - self.0.queue.len())
    }

    #[inline(always)]
    fn seems_ready(&self) -> bool {
        self.0.queue.seems_pushable()
    }

    fn first_pauses(&self) -> u32 {
        Q::FIRST_PAUSES
    }
}

impl<Q: Buffer> Channel for Buffered<Q> {
    fn senders_gone(&self) {
        self.queue.close();
        self.waiting.receivers.notify_all();
    }

    fn receivers_gone(&self) {
        self.queue.close();
        if Q::LIMITED {
            self.waiting.senders.notify_all();
        }
        // No receiver will take the items that are left, and others may wait for what these hold.
        run_to_end(|| self.queue.pop(&mut 0, true).is_ok());
    }
}
