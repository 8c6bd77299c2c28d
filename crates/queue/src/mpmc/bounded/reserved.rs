//! Places that are claimed now and filled later, by whoever will do something else in between: what a channel's
//! selection needs. Nobody waits for them, and what is behind them is not lost: consumers pass over a reserved place that
//! hides something, or takes room that somebody may wait for. Its owner learns of it when the item comes.
//!
//! | a claimed place's turn | meaning | leaves it, with `promises` locked |
//! |---|---|---|
//! | [`Place::free`], half way round | reserved: the item comes later, or not at all | owner: filled or waived; consumer: waived |
//! | [`Place::full`], half way round | waived: there will be no item | the consumer that passes over it, by claiming it |
//!
//! Half way round the byte is as far as possible from the turns of a place that are near each other in time. An owner may come after
//! any number of laps: whether its place was passed over the head says. The head passes a reserved place only after that was waived, so
//! under the lock a place not passed, with the turn of a reserved one, is still its owner's.

use super::{Bounded, Found};
use crate::PushError;
use crate::mpmc::place::{LAST_TURN, Place};
use crate::prim::Ordering;
use sateen_base::Backoff;
use sateen_base::canary;

/// Half of all turns.
const HALF: u8 = LAST_TURN / 2 + 1;

/// A place claimed and not filled. It is to be given back to [`Bounded::redeem`] or [`Bounded::waive`].
#[derive(Debug)]
pub(crate) struct Reserved(Place);

impl Reserved {
    pub(crate) fn into_word(self) -> u64 {
        self.0.word()
    }

    /// # Safety
    /// From [`Reserved::into_word`], once.
    pub(crate) unsafe fn from_word(word: u64) -> Self {
        Self(Place::new(word))
    }
}

impl<T> Bounded<T> {
    /// Claims the place at the back for an item that comes later.
    pub(crate) fn reserve(&self) -> Result<Reserved, PushError<()>> {
        let mut backoff = Backoff::new();
        loop {
            let tail = self.place(&self.tail);
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
                // Relaxed: it shows nothing.
                slot.flag.store(self.shape.free(tail) ^ HALF, Ordering::Relaxed);
                return Ok(Reserved(tail));
            } else {
                backoff.spin();
            }
        }
    }

    /// The item comes; back if the place was passed over.
    pub(crate) fn redeem(&self, Reserved(place): Reserved, item: T) -> Result<(), T> {
        let _promises = self.promises.lock();
        if !self.holds(place) {
            return Err(item);
        }
        // SAFETY: claimed by `reserve` when it was free, and still the caller's: consumers stop before it.
        unsafe { Self::fill(self.slot(place), self.shape.full(place), item) };
        Ok(())
    }

    /// The item does not come.
    pub(crate) fn waive(&self, Reserved(place): Reserved) {
        let _promises = self.promises.lock();
        if self.holds(place) {
            self.mark_waived(place);
        }
    }

    /// Whether `place` is still its owner's, who asks with `promises` locked.
    fn holds(&self, place: Place) -> bool {
        let head = || Place::new(self.head.place.load(Ordering::SeqCst));
        let early = canary!("bounded-passed-between").then(head);
        let reserved = Self::turn(self.slot(place)) == self.shape.free(place) ^ HALF;
        // After the Acquire of the turn: the turn of a free place laps later looks like this one,
        // but then this sees that the head has passed. Before it, a waived place could be passed,
        // and the ring go round, between the two.
        let head = early.unwrap_or_else(head);
        canary!("bounded-passed-unseen")
            || (reserved && self.shape.between(head, place) < self.capacity())
    }

    /// Whether something is behind the place `head`, which is reserved, or no room is left. Looks at as many places as are
    /// reserved or waived.
    fn is_in_the_way(&self, head: Place, tail: Place) -> bool {
        let claimed = self.shape.between(head, tail);
        let is_item = |distance| {
            let place = self.shape.advanced(head, distance);
            let (turn, none) = (Self::turn(self.slot(place)), self.shape.free(place) ^ HALF);
            // Neither reserved nor waived: there, or about to be filled.
            turn != none && turn != none | 1
        };
        let hides = (1..claimed).any(is_item) && !canary!("bounded-promise-kept");
        hides || claimed >= self.capacity()
    }

    fn mark_waived(&self, place: Place) {
        // Ordering: Release, as in `fill`: the place's next writer comes after its last reader.
        self.slot(place).flag.store(self.shape.full(place) ^ HALF, Ordering::Release);
    }

    /// Waives the place `head` for its owner if it is reserved, and hides something or takes room that somebody may wait for.
    /// False if it is no hindrance; else it is reserved no longer.
    pub(super) fn pass_over_slow(&self, head: Place, tail: Place) -> bool {
        if !self.is_in_the_way(head, tail) {
            return false;
        }
        let _promises = self.promises.lock();
        // Else its owner was faster.
        if self.is_reserved(head) {
            self.mark_waived(head);
        }
        true
    }

    /// Whether the queue is full, and the first place is reserved: a consumer would make room.
    pub(crate) fn is_full_of_promises(&self) -> bool {
        let head = Place::new(self.head.place.load(Ordering::SeqCst));
        self.is_reserved(head) && self.is_full()
    }

    /// Whether a pop would give an item, pass over a place, or say that the queue is closed: unlike [`Bounded::is_empty`] it
    /// takes a single reserved place for nothing.
    pub(crate) fn is_poppable(&self) -> bool {
        // Ordering: SeqCst, as in `is_empty`.
        let head = Place::new(self.head.place.load(Ordering::SeqCst));
        let tail = Place::new(self.tail.place.load(Ordering::SeqCst));
        let there = self.shape.open(tail) != head.word()
            && (!self.is_reserved(head) || self.is_in_the_way(head, tail));
        there || self.shape.is_closed(tail)
    }

    /// Whether the head stands at `head`, and that is reserved.
    pub(super) fn is_reserved(&self, head: Place) -> bool {
        // Relaxed, after the Acquire of the turn: a slot is made free, by a Release, after the head
        // has passed it, and an end takes each value once. Without this look a caller that slept
        // for 64 laps takes a free place of today for a reserved one. (After 128 laps it may take
        // another reserved place for this one, which is harmless: the item that comes there takes
        // another place.)
        Self::turn(self.slot(head)) == self.shape.free(head) ^ HALF
            && self.head.place.load(Ordering::Relaxed) == head.word()
    }

    /// Drops an item, with the queue: also one behind a place whose owner has been forgotten. False if none is left.
    pub(super) fn drop_one(&self) -> bool {
        let popped = self.pop().is_ok();
        let head = Place::new(self.head.place.load(Ordering::Relaxed));
        let reserved = !popped && self.is_reserved(head);
        if reserved {
            self.waive(Reserved(head));
        }
        popped || reserved
    }

    /// Passes over the place `head` if it was waived; whether it was.
    pub(super) fn skip_waived(&self, head: Place) -> bool {
        let slot = self.slot(head);
        let skipped = Self::turn(slot) == self.shape.full(head) ^ HALF
            && self.claim(&self.head, head, self.shape.next(head));
        if skipped {
            // Ordering: Release, for `is_reserved`: whoever sees the place free sees that the head
            // has passed it.
            slot.flag.store(self.shape.free_after(head), Ordering::Release);
        }
        skipped
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_head_of_half_a_round_of_turns_ago_is_not_reserved() {
        let queue = Bounded::<u8>::starting_at(2, 64);
        assert!(!queue.is_reserved(queue.shape.start(0)));
        let reserved = queue.reserve().unwrap();
        assert!(queue.is_reserved(queue.shape.start(64)));
        queue.redeem(reserved, 1).unwrap();
        assert!(!queue.is_reserved(queue.shape.start(64)));
    }
}
