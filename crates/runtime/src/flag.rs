//! A one-shot flag that publishes the writes before it was raised.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::{AtomicBool, Ordering};

/// Whether something has happened. It is never reset.
#[derive(Debug)]
pub struct Flag(AtomicBool);

impl Default for Flag {
    fn default() -> Self {
        Self::new()
    }
}

impl Flag {
    /// Starts lowered.
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Raises the flag. Returns whether the caller is the first to do so.
    pub fn raise(&self) -> bool {
        // Ordering: Release pairs with the Acquire in `is_raised`.
        !self.0.swap(true, Ordering::Release)
    }

    /// Whether the flag is raised. If so, the writes before `raise` are visible.
    #[inline]
    pub fn is_raised(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `raise`.
        self.0.load(Ordering::Acquire)
    }
}
