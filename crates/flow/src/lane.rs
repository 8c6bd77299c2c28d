//! One of the queues of a worker queue. What it accepts is handled, or given back; never lost.
//!
//! | who | does | and then |
//! |---|---|---|
//! | sender | pushes: in, or back because it is closed | tells a worker |
//! | worker | pops, until it is [drained](Lane::is_drained) | ends |
//! | who closes | closes: pushes that began before are in | tells all |
//! | who aborts | says that workers are to end, [empties](Lane::empty) it | tells all, hands out what it got |
//!
//! Model: `tests/loom_lane.rs`.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use crate::hold::Hold;
use sateen_base::CachePadded;
use sateen_base::canary;
use sateen_queue::{PushError, mpmc::Bounded};
use sateen_sync::WaitPoint;

/// The queue, and what belongs to it.
#[derive(Debug)]
pub struct Lane<I> {
    /// What is to be handled.
    pub queue: Bounded<I>,
    /// Who handles its items, if their order counts.
    pub hold: CachePadded<Hold>,
    /// Where senders wait that can use no other lane.
    pub room: WaitPoint,
    /// Whose lane it is.
    pub crew: usize,
}

impl<I> Lane<I> {
    /// With room for so many items.
    pub fn new(capacity: usize, crew: usize) -> Self {
        let hold = CachePadded::new(Hold::new());
        Self { queue: Bounded::new(capacity), hold, room: WaitPoint::asymmetric(), crew }
    }

    /// Puts an item in, and tells one of the workers that wait at `gate`.
    #[inline(always)]
    pub fn push(&self, item: I, gate: &WaitPoint) -> Result<(), PushError<I>> {
        self.queue.push(item)?;
        gate.notify_one();
        Ok(())
    }

    /// Whether a sender that waits for room should look again.
    pub fn is_open_to_try(&self) -> bool {
        !self.queue.is_full() || self.queue.is_closed()
    }

    /// Whether there will never be an item in it.
    pub fn is_drained(&self) -> bool {
        if canary!("lane_drained_empty_first") {
            return self.queue.is_empty() && self.queue.is_closed();
        }
        // In this order: once it is closed nothing comes in, so that empty then is empty for ever.
        self.queue.is_closed() && self.queue.is_empty()
    }

    /// Closes it, and takes out all that is in it, also what is being put in.
    pub fn empty(&self, mut take: impl FnMut(I)) {
        if !canary!("lane_empty_open") {
            self.queue.close();
        }
        // A closed queue says that there is none only when the last item is out.
        while let Ok(item) = self.queue.pop() {
            take(item);
        }
        if canary!("lane_empty_open") {
            self.queue.close();
        }
    }
}
