//! A value that exists once per process because it relies on threads: a forked child has none of
//! its parent's threads.
//!
//! The word is null, or the address of a leaked pair: the value, and the generation of the process
//! that created it. A caller that finds null, or a pair of another generation, creates a new pair
//! and publishes it by one exchange. If the exchange fails, the caller frees its pair and tries
//! again.

use crate::prim::{AtomicPtr, Ordering};
use std::boxed::Box;
use std::ptr::null_mut;

/// One value for each process, created on first use. A forked child creates its own; its parent's
/// value is leaked there.
#[doc(hidden)]
#[derive(Debug)]
pub struct PerProcess<T>(AtomicPtr<Made<T>>);

#[derive(Debug)]
struct Made<T> {
    value: T,
    generation: u32,
}

impl<T: Send + Sync> PerProcess<T> {
    crate::const_except_loom! {
        /// Starts without a value.
        #[allow(clippy::new_without_default)]
        pub const fn new() -> Self {
            Self(AtomicPtr::new(null_mut()))
        }
    }

    /// The value of this process. `make` is called if there is none; if several threads do so at
    /// the same time, one value is kept. Costs two loads and a comparison once it exists.
    pub fn get(&'static self, make: impl Fn() -> T) -> &'static T {
        super::watch_forks();
        self.of_generation(super::process_generation(), make)
    }

    /// The value of `generation`, which is the caller's.
    #[cfg(loom)]
    pub fn get_in(&self, generation: u32, make: impl Fn() -> T) -> &T {
        self.of_generation(generation, make)
    }

    fn of_generation(&self, generation: u32, make: impl Fn() -> T) -> &T {
        loop {
            // Ordering: Acquire pairs with the Release of the exchange below, which makes the pair
            // visible.
            let seen = self.0.load(Ordering::Acquire);
            // SAFETY: it is null, or leaked below.
            let made = unsafe { seen.as_ref() }.filter(|made| made.generation == generation);
            if let Some(made) = made {
                return &made.value;
            }
            let new = Box::into_raw(Box::new(Made { value: make(), generation }));
            // Ordering: Release publishes the pair; Relaxed on failure, as the loop loads again.
            if self.0.compare_exchange(seen, new, Ordering::Release, Ordering::Relaxed).is_err() {
                // SAFETY: it was not published, so no other thread has it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }
}
