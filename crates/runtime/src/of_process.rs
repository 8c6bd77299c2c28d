//! What each process has one of: a child that forked makes its own, and its parent's is leaked
//! there.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
use sateen_base::prim::{AtomicPtr, Ordering};
use std::ptr::null_mut;

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct OfProcess<T>(AtomicPtr<Made<T>>);

#[derive(Debug)]
struct Made<T> {
    what: T,
    process: u32,
}

impl<T: Send + Sync> OfProcess<T> {
    /// Nothing yet.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// Nothing yet.
    #[cfg(loom)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// This process's, made by the first that asks. Several may make one, of which one is kept.
    #[cfg(not(loom))]
    pub(crate) fn get(&'static self, make: impl Fn() -> T) -> &'static T {
        crate::forked::watch();
        self.get_in(sateen_base::os::process_generation(), make)
    }

    /// That of `process`, which is the caller's.
    pub fn get_in(&self, process: u32, make: impl Fn() -> T) -> &T {
        let publish =
            if canary!("of_process_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        loop {
            // Ordering: Acquire pairs with the Release below: it is seen whole.
            let now = self.0.load(Ordering::Acquire);
            // SAFETY: null, or leaked below.
            let made = unsafe { now.as_ref() }.filter(|made| made.process == process);
            if let Some(made) = made {
                return &made.what;
            }
            let new = Box::into_raw(Box::new(Made { what: make(), process }));
            // Ordering: Release publishes it; Relaxed on failure, which is looked at anew.
            if self.0.compare_exchange(now, new, publish, Ordering::Relaxed).is_err() {
                // SAFETY: just made, and nobody else has it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }
}
