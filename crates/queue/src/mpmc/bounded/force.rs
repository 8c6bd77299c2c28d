//! Putting an item into a full queue, for the one at the front.

use super::{Bounded, Slot};
use crate::PushError;
use crate::mpmc::position::Position;
use crate::prim::Ordering;
use sateen_base::Backoff;

impl<T> Bounded<T> {
    /// Puts `item` in at the back. If the queue is full, takes the item at the front out for it and
    /// returns that.
    ///
    /// # Errors
    /// [`PushError::Closed`] with the item if the queue was closed before.
    ///
    /// ```
    /// let queue = sateen::queue::mpmc::Bounded::new(1);
    /// assert_eq!(queue.force_push('a'), Ok(None));
    /// assert_eq!(queue.force_push('b'), Ok(Some('a')));
    /// ```
    pub fn force_push(&self, item: T) -> Result<Option<T>, PushError<T>> {
        let mut item = item;
        let mut backoff = Backoff::new();
        loop {
            item = match self.push(item) {
                Ok(()) => return Ok(None),
                Err(PushError::Full(item)) => item,
                Err(closed) => return Err(closed),
            };
            let tail = self.position(&self.tail);
            let slot = self.slot(tail);
            // The slot beyond a full queue is the front one. The tail may pass it only while its
            // item is there and unclaimed. So the queue is never more than one item too long.
            let full = Self::turn(slot) == self.shape.full_before(tail)
                && self.head.position.load(Ordering::SeqCst) == self.shape.lap_before(tail);
            if !self.shape.is_closed(tail)
                && full
                && self.claim(&self.tail, tail, self.shape.next(tail))
            {
                let before = self.make_room(slot, tail);
                // SAFETY: this thread made the claim, and the item that was in the slot is out.
                unsafe { Self::fill(slot, self.shape.full(tail), item) };
                return Ok(before);
            }
            backoff.spin();
        }
    }

    /// Takes the item of the lap before out of the slot at `tail`, which the caller claimed, or
    /// waits until a consumer has.
    fn make_room(&self, slot: &Slot<T>, tail: Position) -> Option<T> {
        let front = Position::new(self.shape.lap_before(tail));
        let mut backoff = Backoff::new();
        while Self::turn(slot) != self.shape.free(tail) {
            if Self::turn(slot) == self.shape.full(front)
                && self.claim(&self.head, front, self.shape.next(front))
            {
                // SAFETY: full, and claimed by this thread.
                return Some(unsafe { Self::empty(slot, self.shape.free(tail)) });
            }
            backoff.snooze();
        }
        None
    }
}
