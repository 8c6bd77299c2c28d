//! A flag that is raised once, and shows what was done before.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::{AtomicBool, Ordering};

/// Whether something has happened. It stays so.
#[derive(Debug)]
pub struct Flag(AtomicBool);

impl Default for Flag {
    fn default() -> Self {
        Self::new()
    }
}

impl Flag {
    /// Not raised.
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Raises it; whether the caller is the first.
    pub fn raise(&self) -> bool {
        // Ordering: Release pairs with the Acquire in `is_raised`.
        !self.0.swap(true, Ordering::Release)
    }

    /// Whether it is raised. What was done before is visible then.
    #[inline]
    pub fn is_raised(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `raise`.
        self.0.load(Ordering::Acquire)
    }
}
