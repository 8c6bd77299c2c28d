//! The queues under channels with a buffer, as `buffered.rs` sees them.

use super::token::Reservation;
use crate::mpmc::{Bounded, ReservedSlot, Unbounded};
use crate::{PopError, PushError, TrustedItems};

/// What a channel needs of its queue.
///
/// Each claim of a slot is a sequentially consistent exchange, and so are the tests for items and
/// room.
pub(super) trait Buffer {
    type Item;
    /// Whether a push can fail because there is no room. If so, receivers must wake senders.
    const LIMITED: bool;

    /// Unless it `looks`, it may say "full" though there is room.
    fn push(&self, item: Self::Item, looks: bool) -> Result<(), PushError<Self::Item>>;
    /// Takes an item; adds to `skipped` the aborted slots that it passed over on the way. Unless it
    /// `looks`, it may say "empty" though there is an item, or of a closed queue.
    fn pop(&self, skipped: &mut usize, looks: bool) -> Result<Self::Item, PopError>;
    fn push_from<I>(&self, items: &mut I) -> Result<usize, PushError<()>>
    where
        I: TrustedItems<Item = Self::Item>;
    fn pop_into(
        &self,
        buf: &mut Vec<Self::Item>,
        max: usize,
        skipped: &mut usize,
    ) -> Result<usize, PopError>;
    /// Whether a pop would return an item, or say that the queue is closed and drained.
    fn is_poppable(&self) -> bool;
    /// Whether a push would succeed, or say that the queue is closed.
    fn is_pushable(&self) -> bool;
    /// How many pauses a caller that waits may take before its first full look, while it looks at
    /// `seems_poppable` or `seems_pushable` after each. 1 if those say nothing.
    const FIRST_PAUSES: u32;
    /// Whether the slot at the head has become full. A hint, which reads what the pop needs anyway.
    fn seems_poppable(&self) -> bool;
    /// Whether the slot at the tail has become free.
    fn seems_pushable(&self) -> bool;
    fn len(&self) -> usize;
    fn capacity(&self) -> Option<usize>;
    fn close(&self);
    fn is_closed(&self) -> bool;

    /// Whether there is no room only because of a reservation that a pop would pass over.
    fn is_full_behind_reservation(&self) -> bool;

    /// Reserves room for one item, which comes later.
    fn reserve(&self) -> Result<Reservation, PushError<()>>;
    /// The item comes. The error has it back: either there will never be room, or the slot was
    /// passed over.
    fn commit(&self, reservation: Reservation, item: Self::Item) -> Result<(), Self::Item>;
    /// The item does not come.
    fn abort(&self, reservation: Reservation);
}

impl<T> Buffer for Bounded<T> {
    type Item = T;
    const LIMITED: bool = true;

    #[inline(always)]
    fn push(&self, item: T, looks: bool) -> Result<(), PushError<T>> {
        self.push_or_look(item, looks)
    }

    #[inline(always)]
    fn pop(&self, skipped: &mut usize, looks: bool) -> Result<T, PopError> {
        self.pop_past(skipped, looks)
    }

    fn push_from<I: TrustedItems<Item = T>>(&self, items: &mut I) -> Result<usize, PushError<()>> {
        self.push_from(items)
    }

    fn pop_into(
        &self,
        buf: &mut Vec<T>,
        max: usize,
        skipped: &mut usize,
    ) -> Result<usize, PopError> {
        self.pop_into_past(buf, max, skipped)
    }

    fn is_poppable(&self) -> bool {
        self.is_poppable()
    }

    fn is_pushable(&self) -> bool {
        self.is_closed() || !self.is_full()
    }

    const FIRST_PAUSES: u32 = 32;

    #[inline(always)]
    fn seems_poppable(&self) -> bool {
        self.seems_poppable()
    }

    #[inline(always)]
    fn seems_pushable(&self) -> bool {
        self.seems_pushable()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn capacity(&self) -> Option<usize> {
        Some(self.capacity())
    }

    fn close(&self) {
        self.close();
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    fn is_full_behind_reservation(&self) -> bool {
        self.is_full_behind_reservation()
    }

    fn reserve(&self) -> Result<Reservation, PushError<()>> {
        self.reserve().map(|reserved| Reservation::Slot(reserved.into_word()))
    }

    fn commit(&self, reservation: Reservation, item: T) -> Result<(), T> {
        match reservation {
            // SAFETY: `reserve` alone makes a reservation of this kind, and it is used once.
            Reservation::Slot(word) => self.commit(unsafe { ReservedSlot::from_word(word) }, item),
            _ => Err(item),
        }
    }

    fn abort(&self, reservation: Reservation) {
        if let Reservation::Slot(word) = reservation {
            // SAFETY: as in `commit`.
            self.abort(unsafe { ReservedSlot::from_word(word) });
        }
    }
}

impl<T> Buffer for Unbounded<T> {
    type Item = T;
    const LIMITED: bool = false;

    #[inline(always)]
    fn push(&self, item: T, _: bool) -> Result<(), PushError<T>> {
        self.push(item)
    }

    #[inline(always)]
    fn pop(&self, _: &mut usize, _: bool) -> Result<T, PopError> {
        self.pop()
    }

    fn push_from<I: TrustedItems<Item = T>>(&self, items: &mut I) -> Result<usize, PushError<()>> {
        self.push_from(items)
    }

    fn pop_into(&self, buf: &mut Vec<T>, max: usize, _: &mut usize) -> Result<usize, PopError> {
        self.pop_into(buf, max)
    }

    fn is_poppable(&self) -> bool {
        self.is_closed() || !self.is_empty()
    }

    fn is_pushable(&self) -> bool {
        true
    }

    const FIRST_PAUSES: u32 = 1;

    #[inline(always)]
    fn seems_poppable(&self) -> bool {
        false
    }

    #[inline(always)]
    fn seems_pushable(&self) -> bool {
        false
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn capacity(&self) -> Option<usize> {
        None
    }

    fn close(&self) {
        self.close();
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    fn is_full_behind_reservation(&self) -> bool {
        false
    }

    fn reserve(&self) -> Result<Reservation, PushError<()>> {
        if self.is_closed() { Err(PushError::Closed(())) } else { Ok(Reservation::Unlimited) }
    }

    fn commit(&self, _: Reservation, item: T) -> Result<(), T> {
        self.push(item).map_err(PushError::into_inner)
    }

    fn abort(&self, _: Reservation) {}
}
