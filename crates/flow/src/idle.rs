//! Without capacity: how many workers are idle for whom nobody has sent an item.
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | `free` | workers that have said they are idle, less the items that were sent for them and not taken yet | a worker: says it is idle, +1; takes an item though it has not said so, +1; goes on to something else or ends, -1. A sender: sends for one, -1 |
//!
//! It is below 0 while items wait for workers that have gone on to something else. Who raises it tells those who wait for that,
//! through a fence. Model: `tests/loom_idle.rs`.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
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
    /// Nobody is idle.
    pub fn new() -> Self {
        Self { free: AtomicUsize::new(0) }
    }

    /// Whether somebody is idle for whom nobody has sent.
    pub fn is_any(&self) -> bool {
        self.free.load(Relaxed) as isize > 0
    }

    /// For a sender: takes one of those who are idle for its item.
    pub fn try_take(&self) -> bool {
        let mut free = self.free.load(Relaxed);
        while free as isize > 0 {
            if canary!("idle_take_no_exchange") {
                self.free.store(free - 1, Relaxed);
                return true;
            }
            // Ordering: Acquire pairs with the Release in `add`: the room that the worker has made in the lane is seen.
            match self.free.compare_exchange_weak(free, free - 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(seen) => free = seen,
            }
        }
        false
    }

    /// A worker is idle, or one that was sent for has nothing after all. Then tell who waits for one.
    pub fn add(&self) {
        let order = if canary!("idle_add_relaxed") { Relaxed } else { Release };
        // Ordering: Release pairs with the Acquire in `try_take`; otherwise the lane may seem full to who is let in.
        self.free.fetch_add(1, order);
    }

    /// A worker is not idle any more, though it takes no item: what was sent for it waits for another.
    pub fn withdraw(&self) {
        self.free.fetch_sub(1, Relaxed);
    }
}
