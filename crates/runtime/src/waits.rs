//! Giving way, or not.

use crate::context::here;
use crate::fiber::Fiber;
use crate::worker::Owner;

/// Lets others have the worker: a fiber that can go on, or else one piece of new work. A cancellation
/// point. Outside of tasks it yields the thread's time slice.
///
/// Cost: two switches, about 20 ns; less if there is nothing else to run. (It is inlined on purpose: a return
/// between two switches is one that the processor predicts wrong.)
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// let runtime = sateen::Runtime::builder().workers(1).build()?;
/// runtime.install(|| {
///     static DONE: AtomicBool = AtomicBool::new(false);
///     drop(sateen::spawn(|| DONE.store(true, Ordering::Relaxed)));
///     while !DONE.load(Ordering::Relaxed) {
///         sateen::yield_now();
///     }
/// });
/// # Ok::<(), sateen::BuildError>(())
/// ```
#[inline(always)]
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

/// Whether the calling worker has anything else to run: a fiber that can go on, or a task or a scope's spawn
/// that nobody has started. Branches do not count. Outside of tasks: no.
///
/// For loops that do optional work until there is something better. Cost: some loads.
///
/// ```
/// let runtime = sateen::Runtime::builder().workers(1).build()?;
/// runtime.install(|| {
///     assert!(!sateen::has_ready());
///     let task = sateen::spawn(|| 1);
///     assert!(sateen::has_ready());
///     assert_eq!(task.join().unwrap(), 1);
/// });
/// # Ok::<(), sateen::BuildError>(())
/// ```
pub fn has_ready() -> bool {
    here().is_some_and(|(worker, _)| worker.has_runnable())
}

/// What loops of small steps call between two of them, as each push of a branch or a task does by itself: the worker answers what others
/// have asked of it, and lets a suspended task through that has been able to go on for a millisecond. Outside of tasks: nothing.
///
/// Cost: a load.
///
/// ```
/// fn collatz(mut n: u64) -> u32 {
///     let mut steps = 0;
///     while n != 1 {
///         n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
///         steps += 1;
///         sateen::poll();
///     }
///     steps
/// }
/// assert_eq!(sateen::spawn(|| collatz(27)).join().unwrap(), 111);
/// ```
#[inline]
pub fn poll() {
    Owner::poll();
}

/// Runs `f`, in which no wait leaves the thread: a worker that has to wait blocks, and nothing else runs on
/// its thread until `f` is over. Meanwhile a [substitute](crate::Builder::substitutes) takes over.
///
/// For code that is not made for tasks: that sets a thread-local, calls, and restores it, or that waits
/// with a lock of `std` in hand. Outside of tasks a plain call.
///
/// | While the worker waits in `f` | |
/// |---|---|
/// | substitutes and other workers | take its branches and tasks |
/// | its suspended tasks, and tasks for this worker alone | wait for it: `f` must not wait for those |
/// | cancellation | ends the wait, as elsewhere |
/// | [`yield_now`] | gives way to threads only |
///
/// There are few substitutes. When all are blocked and all workers too, what they wait for has to come from
/// elsewhere. What `f` joins and others steal runs on their threads. In a [strict](crate::Builder::strict)
/// runtime `f` has its thread in any case, and a wait keeps the worker too.
///
/// Cost of a wait: two thread switches, and two more to wake the substitute.
///
/// ```
/// use std::sync::Mutex;
/// use sateen::sync::Event;
/// let runtime = sateen::Runtime::builder().workers(2).build()?;
/// let (total, ready) = (Mutex::new(0), Event::new());
/// runtime.install(|| {
///     sateen::join(
///         || sateen::no_suspend(|| {
///             let mut total = total.lock().unwrap();
///             ready.wait();
///             *total += 1;
///         }),
///         || ready.set(),
///     );
/// });
/// assert_eq!(*total.lock().unwrap(), 1);
/// # Ok::<(), sateen::BuildError>(())
/// ```
pub fn no_suspend<R>(f: impl FnOnce() -> R) -> R {
    struct Leave(&'static Fiber);
    impl Drop for Leave {
        fn drop(&mut self) {
            self.0.end_no_suspend();
        }
    }
    let _leave = here().map(|(_, fiber)| {
        fiber.begin_no_suspend();
        Leave(fiber)
    });
    f()
}
