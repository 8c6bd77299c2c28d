//! The calling thread's number, and that of who runs a task.

use crate::word::State;
use sateen_base::thread_number;
#[cfg(feature = "std")]
use sateen_base::unwind::discard;

/// What [`thread`] says where threads have no numbers.
pub(crate) const NO_THREAD: u32 = u32::MAX;

/// The calling thread's number: small, and nobody else's while the thread lives. A load.
#[inline(always)]
pub(crate) fn thread() -> u32 {
    thread_number::get_or_assign().unwrap_or(NO_THREAD)
}

/// A number for the calling thread to choose its own of several lists by. As [`thread`], and in a model, whose threads have no numbers, that of the model's thread.
#[inline(always)]
pub(crate) fn lane() -> usize {
    #[cfg(loom)]
    return sateen_base::prim::searched::thread();
    #[cfg(not(loom))]
    return thread() as usize;
}

/// A runner that nobody is, where threads have no numbers.
const NOBODY: u32 = State::MOST_PENDING;

#[cfg(feature = "std")]
static HOOK: std::sync::OnceLock<fn() -> Option<u32>> = std::sync::OnceLock::new();

/// Says what else than threads runs tasks, for the whole process: `hook` gives the number of the
/// fiber that the caller runs on, which no other fiber has meanwhile, or `None` on a plain thread.
/// Without it a task that makes itself ready is told by its thread's number, and two tasks that
/// take turns on a thread are taken for each other. The first hook stays: `false` if there was one.
/// If it panics, so does who executes, having taken nothing; to others it seems that somebody else
/// runs the task.
///
/// `sateen-flow` installs that of its runtime.
#[cfg(feature = "std")]
pub fn set_runner_hook(hook: fn() -> Option<u32>) -> bool {
    HOOK.set(hook).is_ok()
}

/// Who runs a task, in the bits of [`State::pending`]: the number of the thread, even, or of the fiber, odd.
#[inline(always)]
pub(crate) fn runner() -> u32 {
    #[cfg(feature = "std")]
    if let Some(fiber) = HOOK.get().and_then(|hook| hook()) {
        return (fiber << 1 | 1) % NOBODY;
    }
    match thread() {
        NO_THREAD => NOBODY,
        number => (number << 1) % NOBODY,
    }
}

/// Whether the caller is that runner. Not, if the hook panics: this is asked with tasks in hand.
#[cold]
pub(crate) fn is_runner(number: u32) -> bool {
    #[cfg(feature = "std")]
    let caller = std::panic::catch_unwind(runner).map_err(discard).unwrap_or(NOBODY);
    #[cfg(not(feature = "std"))]
    let caller = runner();
    number != NOBODY && number == caller
}
