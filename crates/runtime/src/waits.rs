//! Giving way to other work, and waits that keep the thread.

use crate::context::here;
use crate::fiber::Fiber;
use crate::worker::Owner;

/// Lets other work have the worker: a suspended task that can go on, or else one new task.
///
/// The caller goes on after the suspended tasks that can go on now. This is a cancellation point.
/// Outside of tasks it yields the thread's time slice. A task that keeps its thread goes on beside
/// the others; in a [strict](crate::Builder::strict) runtime a substitute starts a new task, if one
/// waits that nobody takes.
///
/// # Cost
///
/// Two switches, about 20 ns; less if there is nothing else to run. (The function is always
/// inlined: the processor would mispredict a return between the two switches.)
///
/// # Examples
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

/// Whether the calling worker has anything else to run.
///
/// That is a suspended task that can go on, or a task or a scope's spawn that has not started.
/// Branches do not count. Outside of tasks the answer is no. For loops that do optional work until
/// there is something better to do.
///
/// # Cost
///
/// Some loads.
///
/// # Examples
///
/// ```
/// let runtime = sateen::Runtime::builder().workers(1).build()?;
/// runtime.install(|| {
///     assert!(!sateen::has_ready_work());
///     let task = sateen::spawn(|| 1);
///     assert!(sateen::has_ready_work());
///     assert_eq!(task.join().unwrap(), 1);
/// });
/// # Ok::<(), sateen::BuildError>(())
/// ```
pub fn has_ready_work() -> bool {
    here().is_some_and(|(worker, _)| worker.has_runnable())
}

/// Answers what other workers ask of this one; for loops of small steps that neither spawn nor
/// join.
///
/// Other workers ask for branches to steal. A suspended task that has been able to go on for a
/// millisecond asks for its turn, which it gets here. Each `spawn`, `join` and `fork` polls, too.
/// Outside of tasks this does nothing.
///
/// # Cost
///
/// A load, if nothing is asked.
///
/// # Examples
///
/// ```
/// fn collatz(mut n: u64) -> u32 {
///     let mut steps = 0;
///     while n != 1 {
///         n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
///         steps += 1;
///         sateen::poll_requests();
///     }
///     steps
/// }
/// assert_eq!(sateen::spawn(|| collatz(27)).join().unwrap(), 111);
/// ```
#[inline]
pub fn poll_requests() {
    Owner::poll();
}

/// Runs `f`; its waits block the thread instead of suspending the task.
///
/// Nothing else runs on the worker's thread until `f` is over. While the worker waits, a
/// [substitute](crate::Builder::substitutes) takes over. Outside of tasks this is a plain call.
///
/// For code that was not made for tasks: code that sets a thread-local, calls, and restores it, or
/// that waits while it holds a lock of `std`.
///
/// | While the worker waits in `f` | |
/// |---|---|
/// | substitutes and other workers | take its branches and tasks |
/// | its suspended tasks, and tasks for this worker alone | wait, so `f` must not wait for them |
/// | cancellation | ends the wait, as elsewhere |
/// | [`yield_now`] | gives way to threads only |
///
/// There are few substitutes. If all of them and all workers are blocked, no task of the runtime
/// can end their waits. A branch of `f` that another worker steals runs on that worker's thread. In
/// a [strict](crate::Builder::strict) runtime every wait is of this kind.
///
/// # Cost
///
/// A wait costs two thread switches, and two more to wake the substitute.
///
/// # Examples
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
