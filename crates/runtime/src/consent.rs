//! A joiner's consent to interrupt the work that others run for its activation.
//!
//! That work is the activation's stolen branches and its scopes' jobs. A cancelled task unwinds at
//! its wait points. A branch that waits on another fiber unwinds too, and its joiner continues the
//! panic.
//!
//! Some joiners cannot continue a panic. One that is unwinding already, or must not unwind, runs a
//! destructor that needs the result, and a second panic would end the process. Only the joiner's
//! own thread can tell, and only at its wait. So nothing is interrupted until the joiner waits, has
//! checked, and consents.
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | false | the joiner does not wait yet, or must not unwind | the joiner, in its wait |
//! | true | a branch may end by a cancellation | the joiner, when its wait is over |
//!
//! 1. An inner frame only adds masks and panics to those of the frames around it. So a joiner that
//!    may unwind consents for all branches that its activation has left to others.
//! 2. A joiner withdraws its consent before it continues. The theft of a branch that is published
//!    later makes the withdrawal visible to the thief.
//! 3. The joiner consents, fences, and checks whether the task is cancelled. Then it wakes the
//!    fibers that run the task. A branch finds the mark, fences, and checks for the consent. The
//!    fences order the two sides: the branch finds the consent, or the joiner finds the mark.
//! 4. A joiner that is a branch itself consents once its own joiner has consented. Its own joiner
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
    /// Starts without consent.
    #[allow(clippy::new_without_default)]
    #[inline]
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Gives consent. The caller checks for a cancellation afterwards.
    pub fn give(&self) {
        self.0.store(true, Ordering::Relaxed);
        // Partner: the fence in `is_given`.
        fence(Ordering::SeqCst);
    }

    /// Withdraws the consent before the joiner continues.
    pub fn take_back(&self) {
        // Ordering: Relaxed; published with the next branch.
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether the joiner has consented. Only the joiner calls this.
    pub fn is_noted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether the joiner has consented. The caller has seen that the task is cancelled.
    pub fn is_given(&self) -> bool {
        // Partner: the fence in `give`.
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed)
    }
}
