//! The lock of a lane whose order counts: its holder alone handles the lane's items.
//!
//! | locked | meaning | leaves it |
//! |---|---|---|
//! | false | no worker handles the lane's items | `try_lock` |
//! | true | one worker does, or an item has it that is tried again later | the holder: `unlock` |
//!
//! A worker that finds it locked goes elsewhere, or to sleep. So a worker that unlocks it looks for
//! items once more and tells a sleeper. Proof: the crate's `README.md`, section *Order*.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicBool;
use sateen_base::prim::{Ordering, fence};

/// One bit. No thread waits for it.
#[derive(Debug)]
pub struct LaneLock(AtomicBool);

impl Default for LaneLock {
    fn default() -> Self {
        Self::new()
    }
}

impl LaneLock {
    /// An unlocked one.
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Whether it is locked. If the caller saw an item, issued a fence and then sees it locked, the
    /// holder will see the item.
    pub fn is_locked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Locks it if it is free.
    pub fn try_lock(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `unlock`: the last holder's items were
        // handled before.
        !self.is_locked() && !self.0.swap(true, Ordering::Acquire)
    }

    /// Unlocks it. After that the caller looks whether there is an item, and tells a worker.
    pub fn unlock(&self) {
        // Ordering: Release pairs with the Acquire in `try_lock`.
        self.0.store(false, Ordering::Release);
        // Ordering: SeqCst, with the fence of a sleeper that looked: the sleeper sees the lane
        // unlocked, or we see its item.
        fence(Ordering::SeqCst);
    }
}
