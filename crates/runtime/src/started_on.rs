//! The fiber on which a task was started. The claimer writes it, and a canceller reads it.
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | null | not claimed, or claimed a moment ago | claimer, soon: to either of the others |
//! | an address | the fiber that it was started on, or that polls it | the poll's end, or never |
//! | `NEVER` (1) | it ends without a run | never |
//!
//! A claimer writes the word before it does anything that could wait for a canceller. A canceller
//! that finds the task claimed waits for that.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::Backoff;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicPtr;

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct StartedOn<T>(AtomicPtr<T>);

impl<T> StartedOn<T> {
    const NEVER: *mut T = std::ptr::without_provenance_mut(1);

    /// Starts unclaimed.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The claimer starts the task on `fiber`.
    #[inline]
    pub fn set(&self, fiber: &T) {
        // Ordering: Release pairs with the Acquire in `wait`.
        self.0.store(std::ptr::from_ref(fiber).cast_mut(), Ordering::Release);
    }

    /// The claimer ends the task without starting it.
    pub fn set_never(&self) {
        // Ordering: Release as in `set`.
        self.0.store(Self::NEVER, Ordering::Release);
    }

    /// The fiber that currently polls a future, or null.
    pub fn now(&self) -> *const T {
        // Ordering: Acquire pairs with the Release in `set`.
        self.0.load(Ordering::Acquire)
    }

    /// The future is not being polled any more.
    pub fn clear(&self) {
        // Ordering: Relaxed; a canceller that still finds the fiber here wakes it needlessly.
        self.0.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    /// Waits for the fiber of a claimed task; null if the task ends without a run.
    pub fn wait(&self) -> *const T {
        let mut backoff = Backoff::new();
        loop {
            // Ordering: Acquire pairs with the Release in `set`.
            let fiber = self.0.load(Ordering::Acquire);
            if fiber == Self::NEVER {
                return std::ptr::null();
            }
            if !fiber.is_null() {
                return fiber;
            }
            backoff.snooze();
        }
    }
}
