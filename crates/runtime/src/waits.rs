//! Yielding to other work, and waits that keep the thread.

use crate::context::here;
use crate::fiber::Fiber;
use crate::worker::Owner;

/// Yields the worker to other work: a suspended task that is ready, or else one new task.
///
/// The caller resumes after all tasks that are ready now. This is a cancellation point. Outside of
/// tasks it yields the thread's time slice. A task that keeps its thread runs beside the others. In
/// a [strict](crate::Builder::strict) runtime a substitute starts a new task, if one waits that no
/// worker takes.
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
/// That is a suspended task that is ready, or a task or a scope's spawn that has not started.
/// Branches do not count. Outside of tasks it returns false. It is for loops that do optional work
/// while there is nothing better to do.
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

/// Answers requests of other workers, for loops of small steps that neither spawn nor join.
///
/// Other workers ask for branches to steal. A suspended task that has been ready for a millisecond
/// asks for its turn, and gets it here. Each `spawn`, `join` and `fork` polls too. Outside of tasks
/// this does nothing.
///
/// # Cost
///
/// A load, if there is no request.
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
/// Nothing else runs on the worker's thread until `f` returns. While the worker waits, a
/// [substitute](crate::Builder::substitutes) takes over. Outside of tasks this is a plain call.
///
/// It is for code that was not written for tasks: code that sets a thread-local, makes a call and
/// restores it, or waits while it holds a `std` lock.
///
/// | While the worker waits in `f` | |
/// |---|---|
/// | substitutes and other workers | take its branches and tasks |
/// | its suspended tasks, and tasks for this worker alone | wait, so `f` must not wait for them |
/// | cancellation | ends the wait, as elsewhere |
/// | [`yield_now`] | yields to threads only |
///
/// There are few substitutes. If all of them and all workers are blocked, no task of the runtime
/// can end their waits. A branch of `f` that another worker steals runs on that worker's thread. In
/// a [strict](crate::Builder::strict) runtime every wait is like this.
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
