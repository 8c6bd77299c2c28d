//! Giving way.

use crate::worker::here;

/// Lets others have the worker: a fiber that can go on, or else one piece of new work. A cancellation
/// point. Outside of tasks it yields the thread's time slice.
///
/// Cost: about two switches, some 20 ns; less if there is nothing else to run.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// let runtime = sateen_runtime::Runtime::builder().workers(1).build()?;
/// runtime.install(|| {
///     static DONE: AtomicBool = AtomicBool::new(false);
///     drop(sateen_runtime::spawn(|| DONE.store(true, Ordering::Relaxed)));
///     while !DONE.load(Ordering::Relaxed) {
///         sateen_runtime::yield_now();
///     }
/// });
/// # Ok::<(), sateen_runtime::BuildError>(())
/// ```
pub fn yield_now() {
    match here() {
        Some((worker, fiber)) => {
            fiber.check_interrupted();
            worker.yield_now(fiber);
            fiber.check_interrupted();
        }
        None => sateen_base::prim::thread::yield_now(),
    }
}
