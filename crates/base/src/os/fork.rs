//! Detects forks, for code that relies on threads: a forked child has only the thread that forked.

use super::{Host, Os};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

static GENERATION: AtomicU32 = AtomicU32::new(0);
static WATCHED: AtomicBool = AtomicBool::new(false);

extern "C" fn in_child() {
    // Ordering: Relaxed here and below: the child has no other thread yet.
    GENERATION.fetch_add(1, Relaxed);
}

/// Makes [`process_generation`] distinguish parent and child from now on. Does nothing where there
/// is no `fork`.
///
/// # Cost
/// A load; the first time, a call of a system library.
pub fn watch_forks() {
    if !WATCHED.load(Relaxed) {
        // If two threads come here, each fork counts twice, which is just as good.
        // SAFETY: the handler only exchanges one word.
        unsafe { Host::at_fork_in_child(in_child) };
        WATCHED.store(true, Relaxed);
    }
}

/// A number that changes in the child when the process forks, and at no other time. Costs a load.
///
/// ```
/// use sateen_base::os::{process_generation, watch_forks};
/// watch_forks();
/// assert_eq!(process_generation(), process_generation());
/// ```
#[inline]
pub fn process_generation() -> u32 {
    GENERATION.load(Relaxed)
}

/// Calls `handler` in the child, on its only thread, each time the process forks from now on.
/// Does nothing where there is no `fork`.
///
/// # Safety
/// `handler` only does what a signal handler may do.
pub unsafe fn at_fork_in_child(handler: extern "C" fn()) {
    // SAFETY: passed on to the caller.
    unsafe { Host::at_fork_in_child(handler) };
}
