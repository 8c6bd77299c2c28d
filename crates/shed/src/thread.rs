//! The calling thread's number, and the number of what runs a task.

use crate::word::State;
use sateen_base::thread_number;
#[cfg(feature = "std")]
use sateen_base::unwind::discard;

/// What [`thread`] returns where threads have no numbers.
const NO_THREAD: u32 = u32::MAX;

/// The calling thread's number: small, and no other thread's while this thread lives. A load.
#[inline(always)]
fn thread() -> u32 {
    thread_number::get_or_assign().unwrap_or(NO_THREAD)
}

/// A number by which the calling thread chooses its stripe of a list.
#[inline(always)]
pub(crate) fn stripe() -> usize {
    // A model's threads have no numbers of the first kind.
    #[cfg(loom)]
    return sateen_base::prim::searched::thread();
    #[cfg(not(loom))]
    return thread() as usize;
}

/// The number of no runner, where threads have no numbers.
const NOBODY: u32 = State::MAX_IN_DEGREE;

#[cfg(feature = "std")]
static HOOK: std::sync::OnceLock<fn() -> Option<u32>> = std::sync::OnceLock::new();

/// Tells all sheds of the process how to recognise fibers, which run tasks as threads do.
///
/// `hook` returns the number of the fiber that the caller runs on, which no other fiber has
/// meanwhile, or `None` on a plain thread. The first hook stays; `false`: there was one.
///
/// Without a hook, a task that makes itself ready is recognised by its thread's number, and two
/// tasks that take turns on a thread are taken for each other. `sateen-flow` installs the hook of
/// its runtime.
///
/// # Panics
/// A hook that panics makes the executing call panic before a task runs. A batch makes the tasks
/// that it has taken ready again. To other calls it seems that something else runs the task.
#[cfg(feature = "std")]
pub fn set_runner_hook(hook: fn() -> Option<u32>) -> bool {
    HOOK.set(hook).is_ok()
}

/// The number of the caller, as a runner, in the bits of [`State::in_degree`]: even for a thread,
/// odd for a fiber.
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

/// Whether the caller is that runner. `false` if the hook panics, because callers hold tasks that
/// must not be lost.
#[cold]
pub(crate) fn is_runner(number: u32) -> bool {
    #[cfg(feature = "std")]
    let caller = std::panic::catch_unwind(runner).map_err(discard).unwrap_or(NOBODY);
    #[cfg(not(feature = "std"))]
    let caller = runner();
    number != NOBODY && number == caller
}
