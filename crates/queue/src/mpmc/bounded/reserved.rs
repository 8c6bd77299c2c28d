//! Slots that are claimed now and filled later, for a channel's selection: its owner runs user code
//! in between. No consumer waits for a reserved slot, and no item behind it is lost. A consumer
//! passes over a reserved slot that hides an item, or takes room that a sender may wait for. The
//! owner learns of it when the item comes.
//!
//! | a claimed slot's turn | meaning | leaves it, under the lock `reservations` |
//! |---|---|---|
//! | `free`, half round | reserved: the item may come | owner: commits, aborts; consumer: aborts |
//! | `full`, half round | aborted: no item will come | consumer: claims it, passing over it |
//!
//! Half way round, the byte is as far as possible from the turns that a slot has at about the same
//! time. An owner may come after any number of laps: the head says whether its slot was passed
//! over. The head passes a reserved slot only after that was aborted. So under the lock a slot not
//! passed, with the turn of a reserved one, is still its owner's.

use super::{Bounded, Found};
use crate::PushError;
use crate::mpmc::position::{LAST_TURN, Position};
use crate::prim::Ordering;
use sateen_base::Backoff;

/// Half of all turns.
const HALF: u8 = LAST_TURN / 2 + 1;

/// A slot claimed and not filled. It must be given back to [`Bounded::commit`] or
/// [`Bounded::abort`].
#[derive(Debug)]
pub(crate) struct ReservedSlot(Position);

impl ReservedSlot {
    pub(crate) fn into_word(self) -> u64 {
        self.0.word()
    }

    /// # Safety
    /// From [`ReservedSlot::into_word`], once.
    pub(crate) unsafe fn from_word(word: u64) -> Self {
        Self(Position::new(word))
    }
}

impl<T> Bounded<T> {
    /// Claims the slot at the back for an item that comes later.
    pub(crate) fn reserve(&self) -> Result<ReservedSlot, PushError<()>> {
        let mut backoff = Backoff::new();
        loop {
            let tail = self.position(&self.tail);
            if self.shape.is_closed(tail) {
                return Err(PushError::Closed(()));
            }
            let slot = self.slot(tail);
            if Self::turn(slot) != self.shape.free(tail) {
                match self.room_slow(tail) {
                    Found::Nothing => return Err(PushError::Full(())),
                    Found::Busy => backoff.snooze(),
                    Found::Again => {}
                }
            } else if self.claim(&self.tail, tail, self.shape.next(tail)) {
                // Relaxed: there is no item for it to show.
                slot.flag.store(self.shape.free(tail) ^ HALF, Ordering::Relaxed);
                return Ok(ReservedSlot(tail));
            } else {
                backoff.spin();
            }
        }
    }

    /// The item comes. The error has it back: the slot was passed over.
    pub(crate) fn commit(&self, ReservedSlot(position): ReservedSlot, item: T) -> Result<(), T> {
        let mut looked_to = self.reservations.lock();
        if !self.holds(position) {
            return Err(item);
        }
        let looked_past = self.shape.between(position, *looked_to) <= self.capacity();
        if looked_past {
            // The next look begins here.
            *looked_to = position;
        }
        self.traced.sent(self.slot(position));
        // SAFETY: claimed by `reserve` when it was free, and still the caller's: consumers stop
        // before it.
        unsafe { Self::fill(self.slot(position), self.shape.full(position), item) };
        Ok(())
    }

    /// The item does not come.
    pub(crate) fn abort(&self, ReservedSlot(position): ReservedSlot) {
        let _held = self.reservations.lock();
        if self.holds(position) {
            self.mark_aborted(position);
        }
    }

    /// Whether the slot at `position` is still its owner's, which asks under the lock.
    fn holds(&self, position: Position) -> bool {
        let reserved = Self::turn(self.slot(position)) == self.shape.free(position) ^ HALF;
        // Read after the Acquire of the turn. The turn of a free slot laps later looks like this
        // one, but then this load sees that the head has passed. Read before it, an aborted slot
        // could be passed, and the ring go round, between the two.
        let head = Position::new(self.head.position.load(Ordering::SeqCst));
        reserved && self.shape.between(head, position) < self.capacity()
    }

    /// Whether an item lies behind the slot at `head`, which is reserved, or no room is left.
    ///
    /// Looks on from `looked_to`, where the last look under the lock ended. Before it there are
    /// only reserved and aborted slots: these become items by `commit` alone, under the same lock.
    /// So however many reservations were forgotten, a look takes a few steps.
    fn is_in_the_way(&self, head: Position, tail: Position, looked_to: &mut Position) -> bool {
        // More only if `head` is old.
        let claimed = self.shape.between(head, tail).min(self.capacity());
        // Otherwise the head has passed it, or `tail` is old.
        let known = Some(self.shape.between(head, *looked_to)).filter(|known| *known <= claimed);
        let is_item = |distance: &usize| {
            let position = self.shape.advanced(head, *distance);
            let (turn, none) = (Self::turn(self.slot(position)), self.shape.free(position) ^ HALF);
            // Neither reserved nor aborted: full, or about to be filled.
            turn != none && turn != none | 1
        };
        let item = (known.unwrap_or(0).max(1)..claimed).find(is_item);
        *looked_to = self.shape.advanced(head, item.unwrap_or(claimed));
        item.is_some() || claimed == self.capacity()
    }

    fn mark_aborted(&self, position: Position) {
        // Ordering: Release, as in `fill`: the slot's next writer comes after its last reader.
        self.slot(position).flag.store(self.shape.full(position) ^ HALF, Ordering::Release);
    }

    /// Aborts the reservation of the slot at `head` if it hides an item, or takes room that a
    /// sender may wait for. False if it does neither; otherwise the slot is reserved no longer.
    pub(super) fn pass_over_slow(&self, head: Position, tail: Position) -> bool {
        let mut looked_to = self.reservations.lock();
        if !self.is_in_the_way(head, tail, &mut looked_to) {
            return false;
        }
        // Otherwise its owner was faster.
        if self.is_reserved(head) {
            self.mark_aborted(head);
        }
        true
    }

    /// Whether the queue is full, and the first slot is reserved: a consumer would make room.
    pub(crate) fn is_full_behind_reservation(&self) -> bool {
        let head = Position::new(self.head.position.load(Ordering::SeqCst));
        self.is_reserved(head) && self.is_full()
    }

    /// Whether a pop would return an item, pass over a slot, or say that the queue is closed.
    /// Unlike [`Bounded::is_empty`] it does not count a single reserved slot.
    pub(crate) fn is_poppable(&self) -> bool {
        // Ordering: SeqCst, as in `is_empty`.
        let head = Position::new(self.head.position.load(Ordering::SeqCst));
        let tail = Position::new(self.tail.position.load(Ordering::SeqCst));
        let there = self.shape.open(tail) != head.word()
            && (!self.is_reserved(head)
                || self.is_in_the_way(head, tail, &mut self.reservations.lock()));
        there || self.shape.is_closed(tail)
    }

    /// Whether the head stands at `head`, and the slot there is reserved.
    pub(super) fn is_reserved(&self, head: Position) -> bool {
        // Relaxed, after the Acquire of the turn: a slot is made free, by a Release, after the head
        // has passed it, and an end takes each value once. Without this look a caller that slept
        // for 64 laps takes a free slot of today for a reserved one. (After 128 laps it may take
        // another reserved slot for this one. That is harmless: the item that comes there takes
        // another slot.)
        Self::turn(self.slot(head)) == self.shape.free(head) ^ HALF
            && self.head.position.load(Ordering::Relaxed) == head.word()
    }

    /// Drops an item with the queue, also one behind a reservation that was forgotten. False if
    /// none is left.
    pub(super) fn drop_one(&self) -> bool {
        let popped = self.pop().is_ok();
        let head = Position::new(self.head.position.load(Ordering::Relaxed));
        let reserved = !popped && self.is_reserved(head);
        if reserved {
            self.abort(ReservedSlot(head));
        }
        popped || reserved
    }

    /// Passes over the slot at `head` if its reservation was aborted; returns whether it was.
    pub(super) fn skip_aborted(&self, head: Position) -> bool {
        let slot = self.slot(head);
        let skipped = Self::turn(slot) == self.shape.full(head) ^ HALF
            && self.claim(&self.head, head, self.shape.next(head));
        if skipped {
            // Ordering: Release, for `is_reserved`: a thread that sees the slot free sees that the
            // head has passed it.
            slot.flag.store(self.shape.free_after(head), Ordering::Release);
        }
        skipped
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_item_before_the_end_of_the_last_look_is_found() {
        for lap in [0, u64::MAX - 1] {
            let queue = Bounded::<u8>::from_lap(8, lap);
            for _ in 0..3 {
                // The first is forgotten each time.
                _ = queue.reserve().unwrap();
                let [second, third] = [(); 2].map(|()| queue.reserve().unwrap());
                assert_eq!(queue.pop(), Err(crate::PopError::Empty));
                queue.commit(second, 2).unwrap();
                assert_eq!(queue.pop(), Ok(2));
                assert_eq!(queue.pop(), Err(crate::PopError::Empty));
                queue.commit(third, 3).unwrap();
                queue.push(4).unwrap();
                assert_eq!((queue.pop(), queue.pop()), (Ok(3), Ok(4)));
            }
        }
    }

    #[test]
    fn a_head_of_half_a_round_of_turns_ago_is_not_reserved() {
        let queue = Bounded::<u8>::from_lap(2, 64);
        assert!(!queue.is_reserved(queue.shape.start(0)));
        let reserved = queue.reserve().unwrap();
        assert!(queue.is_reserved(queue.shape.start(64)));
        queue.commit(reserved, 1).unwrap();
        assert!(!queue.is_reserved(queue.shape.start(64)));
    }
}
