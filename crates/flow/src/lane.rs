//! One of the queues of a worker queue. An item that it accepts is handled, or given back; never
//! lost.
//!
//! | Thread | Does | Then |
//! |---|---|---|
//! | sender | pushes; gets the item back if the lane is closed | tells a worker |
//! | worker | pops, until the lane is [drained](Lane::is_drained) | ends |
//! | closing thread | closes the lane: pushes that began before are in | tells all |
//! | aborting thread | tells workers to end, [empties](Lane::empty) the lane | tells all |
//!
//! Model: `tests/loom_lane.rs`.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use crate::lane_lock::LaneLock;
use sateen_base::CachePadded;
use sateen_queue::{PushError, mpmc::Bounded};
use sateen_sync::WaitPoint;

/// The queue, its lock, and its wait point.
#[derive(Debug)]
pub struct Lane<I> {
    /// The items to be handled.
    pub queue: Bounded<I>,
    /// Taken to handle its items, if their order counts.
    pub lock: CachePadded<LaneLock>,
    /// Where senders wait that can use no other lane.
    pub room: CachePadded<WaitPoint>,
    /// The crew that serves it.
    pub crew: usize,
}

impl<I> Lane<I> {
    /// Creates a lane with room for this many items; `None` if there is no memory for it.
    pub fn new(capacity: usize, crew: usize) -> Option<Self> {
        let queue = Bounded::try_new(capacity)?;
        let lock = CachePadded::new(LaneLock::new());
        let room = CachePadded::new(WaitPoint::asymmetric());
        Some(Self { queue, lock, room, crew })
    }

    /// Puts an item in, and tells one of the workers that wait at `sleepers`.
    #[inline(always)]
    pub fn push(&self, item: I, sleepers: &WaitPoint) -> Result<(), PushError<I>> {
        self.queue.push(item)?;
        sleepers.notify_one();
        Ok(())
    }

    /// Whether a sender that waits for room should look again.
    pub fn is_open_to_try(&self) -> bool {
        !self.queue.is_full() || self.queue.is_closed()
    }

    /// Whether there will never be an item in it.
    pub fn is_drained(&self) -> bool {
        // In this order: nothing comes in once it is closed, so a lane that is empty then stays
        // empty.
        self.queue.is_closed() && self.queue.is_empty()
    }

    /// Closes it and takes out all items, including those that are being pushed.
    pub fn empty(&self, mut take: impl FnMut(I)) {
        self.queue.close();
        // A closed queue reports its end only when the last item is out.
        while let Ok(item) = self.queue.pop() {
            take(item);
        }
    }
}
