//! The right to handle the items of a lane whose order counts.
//!
//! | `held` | meaning | leaves it |
//! |---|---|---|
//! | false | no worker handles the lane's items | `try_take` |
//! | true | one worker does, or an item has it that is tried again later | the holder: `give` |
//!
//! A worker that finds it held goes elsewhere, or to sleep. So a worker that gives it back looks
//! for items once more and tells a sleeper. Proof: the crate's `README.md`, section *Order*.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
use sateen_base::prim::searched::AtomicBool;
use sateen_base::prim::{Ordering, fence};

/// One bit.
#[derive(Debug)]
pub struct Hold(AtomicBool);

impl Default for Hold {
    fn default() -> Self {
        Self::new()
    }
}

impl Hold {
    /// A free one.
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Whether it is held. If the caller saw an item, issued a fence and then sees it held, the
    /// holder will see the item.
    pub fn is_held(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes it if it is free.
    pub fn try_take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`: the last holder's items were handled
        // before.
        !self.is_held() && !self.0.swap(true, Ordering::Acquire)
    }

    /// Gives it back. After that the caller looks whether there is an item, and tells a worker.
    pub fn give(&self) {
        let order =
            if canary!("hold_give_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        // Ordering: Release pairs with the Acquire in `try_take`.
        self.0.store(false, order);
        if !canary!("hold_give_no_fence") {
            // Ordering: SeqCst, with the fence of a sleeper that looked: the sleeper sees the hold
            // free, or we see its item.
            fence(Ordering::SeqCst);
        }
    }
}
