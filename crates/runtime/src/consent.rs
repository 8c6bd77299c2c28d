//! Consent to interrupt what others run for an activation: its stolen branches, its scopes' jobs.
//!
//! A cancelled task unwinds where it waits. A branch that waits on another fiber unwinds too, and
//! its joiner passes the panic on. A joiner that unwinds already, or must not unwind, cannot: its
//! destructor needs the result, and a second panic ends the process. Whether that is so, only the
//! joiner's thread can tell, and only where it looks. So nothing is interrupted until the joiner
//! waits for it, has looked, and consents.
//!
//! | word | meaning | moved on by |
//! |---|---|---|
//! | false | the joiner has not come, or must not unwind | the joiner, in its wait |
//! | true | a branch may end by a cancellation | the joiner, when its wait is over |
//!
//! 1. Frames only add masks and panics to those of the frames around them. So a joiner that may
//!    unwind consents for all branches that its activation has left to others.
//! 2. A joiner takes its consent back before it goes on. A branch that is published later is taken
//!    by a thief that finds it taken back, by the order of the theft.
//! 3. The joiner consents, fences, and looks whether the task is cancelled. Then it wakes the
//!    fibers that run the task. A branch finds the mark, fences, and looks for the consent. By the
//!    order of the fences, the branch finds the consent, or the joiner finds the mark.
//! 4. A joiner that is a branch itself consents once it has the consent of its own joiner. That one
//!    wakes it.
//!
//! Model: `loom_cancel.rs`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicBool;
use sateen_base::prim::{Ordering, fence};

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct Consent(AtomicBool);

impl Consent {
    /// Not given.
    #[allow(clippy::new_without_default)]
    #[inline]
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// The joiner consents. It looks for a cancellation afterwards.
    pub fn give(&self) {
        self.0.store(true, Ordering::Relaxed);
        // Partner: the fence in `is_given`.
        fence(Ordering::SeqCst);
    }

    /// The joiner goes on.
    pub fn take_back(&self) {
        // Ordering: Relaxed; published with the next branch.
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether the joiner has consented. Only the joiner asks.
    pub fn is_noted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether the joiner has consented. The caller has found that the task is cancelled.
    pub fn is_given(&self) -> bool {
        // Partner: the fence in `give`.
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed)
    }
}
