//! The right to handle the items of a queue whose order counts.
//!
//! | `held` | meaning | leaves it |
//! |---|---|---|
//! | false | nobody handles its items | `try_take` |
//! | true | one worker does, or an item that is tried again later | that one: `give` |
//!
//! Who finds it held goes elsewhere, or to sleep; so who gives it back looks for items once more and tells a sleeper. Proof: the crate's
//! `README.md`, section *Order*.
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
    /// Held by nobody.
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Whether somebody holds it. After a fence that comes after an item was seen to be sent, a yes means that the holder will see the item.
    pub fn is_held(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes it if nobody holds it.
    pub fn try_take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`: what the holder before handled comes first.
        !self.is_held() && !self.0.swap(true, Ordering::Acquire)
    }

    /// Gives it back. Then look whether there is an item, and tell somebody.
    pub fn give(&self) {
        let order =
            if canary!("hold_give_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        // Ordering: Release pairs with the Acquire in `try_take`.
        self.0.store(false, order);
        if !canary!("hold_give_no_fence") {
            // Ordering: SeqCst, with the fence of a sleeper that looked: either it sees the hold free, or we see its item.
            fence(Ordering::SeqCst);
        }
    }
}
