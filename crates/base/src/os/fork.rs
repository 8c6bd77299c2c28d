//! Which process this is, for those who rely on threads: of a process that forks, its child has only the thread that
//! did it.

use super::{Host, Os};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

static GENERATION: AtomicU32 = AtomicU32::new(0);
static WATCHED: AtomicBool = AtomicBool::new(false);

extern "C" fn in_child() {
    // Ordering: Relaxed here and below, for the child has no other thread yet.
    GENERATION.fetch_add(1, Relaxed);
}

/// From now on [`process_generation`] tells parent and child apart. Nothing happens where there is no `fork`. Cost: a
/// load; the first time a call of a system library.
pub fn watch_forks() {
    if !WATCHED.load(Relaxed) {
        // Should two threads come here, forks count twice, which tells as much.
        // SAFETY: an exchange of one word is all that it does.
        unsafe { Host::at_fork_in_child(in_child) };
        WATCHED.store(true, Relaxed);
    }
}

/// A number that changes in the child when the process forks, and never else. Cost: a load.
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

/// Calls `handler` in the child, on its only thread, each time that the process forks from now on. Nothing happens where
/// there is no `fork`.
///
/// # Safety
/// It does only what a signal handler may do.
pub unsafe fn at_fork_in_child(handler: extern "C" fn()) {
    // SAFETY: passed on to the caller.
    unsafe { Host::at_fork_in_child(handler) };
}
