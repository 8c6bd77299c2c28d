//! Without capacity: how many idle workers no sender has sent an item for.
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | `free` | workers that have said they are idle, less items sent for them | see below |
//!
//! | Step | `free` |
//! |---|---|
//! | a worker says that it is idle | +1 |
//! | a worker takes an item although it has not said so | +1 |
//! | a worker that has said so goes on to something else, or ends | -1 |
//! | a sender sends an item for an idle worker | -1 |
//!
//! It is below 0 while items wait for workers that have gone on to something else. A worker that
//! raises it tells waiting senders, through a fence. Model: `tests/loom_idle.rs`.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::Ordering::{Acquire, Relaxed, Release};
use sateen_base::prim::searched::AtomicUsize;

/// The word.
#[derive(Debug)]
pub struct Idle {
    /// A signed number, in two's complement.
    free: AtomicUsize,
}

impl Default for Idle {
    fn default() -> Self {
        Self::new()
    }
}

impl Idle {
    /// No worker is idle.
    pub fn new() -> Self {
        Self { free: AtomicUsize::new(0) }
    }

    /// Whether there is an idle worker that no sender has sent an item for.
    pub fn is_any(&self) -> bool {
        self.free.load(Relaxed) as isize > 0
    }

    /// For a sender: takes an idle worker for its item.
    pub fn try_take(&self) -> bool {
        let mut free = self.free.load(Relaxed);
        while free as isize > 0 {
            // Ordering: Acquire pairs with the Release in `add`: the sender sees the room that the
            // worker has made in the lane.
            match self.free.compare_exchange_weak(free, free - 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(seen) => free = seen,
            }
        }
        false
    }

    /// A worker is idle, or one that was taken got no item. The caller tells a waiting sender after
    /// that.
    pub fn add(&self) {
        // Ordering: Release pairs with the Acquire in `try_take`; otherwise the lane may seem full
        // to the sender that is let in.
        self.free.fetch_add(1, Release);
    }

    /// A worker is not idle any more, but takes no item: an item that was sent for it waits for
    /// another worker.
    pub fn withdraw(&self) {
        self.free.fetch_sub(1, Relaxed);
    }
}
