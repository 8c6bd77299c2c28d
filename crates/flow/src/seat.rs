//! Whether somebody is on the way who will look for work.
//!
//! A seat's *stand-in* is a task of the runtime that was spawned and has not started. The word says whether there is one:
//!
//! | queued | means | left by |
//! |---|---|---|
//! | `false` | no stand-in, or one has started and is about to look | who rings → `true`, and then spawns one |
//! | `true` | one was or is being spawned, and will look after it has said `false` | the stand-in, when it starts → `false` |
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
use sateen_base::prim::searched::AtomicBool;
use sateen_base::prim::{Ordering, fence};

/// One bit: any thread raises it, the stand-in takes it down.
#[derive(Debug)]
pub struct Seat {
    queued: AtomicBool,
}

impl Default for Seat {
    fn default() -> Self {
        Self::new()
    }
}

impl Seat {
    /// Without a stand-in.
    pub fn new() -> Self {
        Self { queued: AtomicBool::new(false) }
    }

    /// To be called after work was made visible and before [`ring`](Self::ring): either the stand-in that is queued sees that work, or `ring`
    /// sees that none is.
    #[inline(always)]
    pub fn announce() {
        if !canary!("seat_announce_no_fence") {
            // Ordering: SeqCst, with the fence in `begin`: of two fences one comes first. If it is this one, the stand-in sees the work; if that
            // one, we see the word as it left it, or later.
            fence(Ordering::SeqCst);
        }
    }

    /// Whether one is queued, as far as the caller can see.
    #[inline(always)]
    pub fn is_queued(&self) -> bool {
        self.queued.load(Ordering::Relaxed)
    }

    /// Makes sure that a stand-in will look: if this says `true`, the caller has to spawn it.
    #[inline(always)]
    pub fn ring(&self) -> bool {
        // Ordering: Relaxed for both. What the stand-in has to see is made visible by the fences, or by being spawned.
        !self.is_queued() && !self.queued.swap(true, Ordering::Relaxed)
    }

    /// The stand-in starts (or never will): whoever rings from here on gets another. It has to look for work after this.
    #[inline(always)]
    pub fn begin(&self) {
        self.queued.store(false, Ordering::Relaxed);
        if !canary!("seat_begin_no_fence") {
            // Ordering: SeqCst, with the fence in `announce`.
            fence(Ordering::SeqCst);
        }
    }
}
