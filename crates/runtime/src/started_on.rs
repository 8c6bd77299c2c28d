//! Where a task was started. The claimer writes it, and a canceller finds the fiber by it.
//!
//! | word | meaning | leaves it |
//! |---|---|---|
//! | null | not claimed, or claimed a moment ago | claimer, soon: to either of the others |
//! | an address | the fiber that it was started on, or that polls it | the poll's end, or never |
//! | `NEVER` (1) | it ends without a run | never |
//!
//! A claimer writes the word before it does anything that could wait for a canceller. A canceller
//! that has found the task claimed waits for that.

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

    /// Not claimed.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The claimer starts it on `fiber`.
    #[inline]
    pub fn set(&self, fiber: &T) {
        // Ordering: Release pairs with the Acquire in `wait`.
        self.0.store(std::ptr::from_ref(fiber).cast_mut(), Ordering::Release);
    }

    /// The claimer ends it instead.
    pub fn set_never(&self) {
        // Ordering: Release as in `set`.
        self.0.store(Self::NEVER, Ordering::Release);
    }

    /// The fiber that polls a future right now; null if none.
    pub fn now(&self) -> *const T {
        // Ordering: Acquire pairs with the Release in `set`.
        self.0.load(Ordering::Acquire)
    }

    /// A future is no longer polled, for now.
    pub fn clear(&self) {
        // Ordering: Relaxed; a canceller that still finds the fiber here wakes it for nothing.
        self.0.store(std::ptr::null_mut(), Ordering::Relaxed);
    }

    /// The fiber it was started on; null if it ends without a run. The task is claimed.
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
