//! Tells ThreadSanitizer which fiber runs; in other builds nothing.
//!
//! `.ci/run deep` sets `cfg(sateen_tsan)`. ThreadSanitizer tracks each stack separately, so the
//! runtime announces each switch. A switch orders what comes before it, because all fibers of a
//! worker run on one thread (flag 0 of `__tsan_switch_to_fiber`). With our feature `asan`,
//! corosensei announces switches to AddressSanitizer.
//!
//! | about to switch | calls | to |
//! |---|---|---|
//! | root | [`Announced::resume`] | the fiber |
//! | fiber, also at its end | [`back`] | the root |

#[cfg(sateen_tsan)]
use std::{cell::Cell, ffi::c_void, ptr};

#[cfg(sateen_tsan)]
unsafe extern "C" {
    fn __tsan_get_current_fiber() -> *mut c_void;
    fn __tsan_create_fiber(flags: u32) -> *mut c_void;
    fn __tsan_switch_to_fiber(fiber: *mut c_void, flags: u32);
    fn __tsan_destroy_fiber(fiber: *mut c_void);
}

#[cfg(sateen_tsan)]
std::thread_local! {
    /// What the running fiber switches back to. If a task runs a runtime of its own, that is
    /// another fiber.
    static ROOT: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
}

/// A fiber as the checker knows it.
#[derive(Debug)]
pub(crate) struct Announced {
    #[cfg(sateen_tsan)]
    fiber: *mut c_void,
}

impl Announced {
    pub(crate) fn new() -> Self {
        Self {
            // SAFETY: it may be called at any time.
            #[cfg(sateen_tsan)]
            fiber: unsafe { __tsan_create_fiber(0) },
        }
    }

    /// Calls `switch`, which resumes the fiber and returns when the fiber has switched back.
    #[inline(always)]
    pub(crate) fn resume<R>(&self, switch: impl FnOnce() -> R) -> R {
        #[cfg(sateen_tsan)]
        // SAFETY: the fiber was made by `new` and is destroyed by `drop`; the switch follows at
        // once.
        let outer = unsafe {
            let outer = ROOT.replace(__tsan_get_current_fiber());
            __tsan_switch_to_fiber(self.fiber, 0);
            outer
        };
        let result = switch();
        #[cfg(sateen_tsan)]
        ROOT.set(outer);
        result
    }
}

#[cfg(sateen_tsan)]
impl Drop for Announced {
    fn drop(&mut self) {
        // SAFETY: the root drops it, so it does not run.
        unsafe { __tsan_destroy_fiber(self.fiber) };
    }
}

/// The running fiber is about to switch to its root.
#[inline(always)]
pub(crate) fn back() {
    #[cfg(sateen_tsan)]
    // SAFETY: the root set it, and waits in `resume`.
    unsafe {
        __tsan_switch_to_fiber(ROOT.get(), 0);
    }
}
