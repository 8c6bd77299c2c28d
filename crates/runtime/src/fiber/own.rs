//! What a task can query about the fiber on which it runs.

use crate::context;

/// The number of the fiber that the caller runs on; `None` outside of tasks.
///
/// Identifies a task among those of one thread in few bits: while a task lives, no other task of
/// the process has its number. A number recurs after 2^32 fibers. There are only as many fibers as
/// tasks were ever suspended at once. [`TaskId`](crate::TaskId) has 64 bits. A branch has the
/// number of the fiber that runs it.
///
/// # Cost
///
/// Two loads.
///
/// # Examples
///
/// ```
/// assert_eq!(sateen::fiber_number(), None);
/// assert!(sateen::spawn(sateen::fiber_number).join().unwrap().is_some());
/// ```
#[inline]
pub fn fiber_number() -> Option<u32> {
    context::fiber().map(|fiber| fiber.number)
}

#[cfg(feature = "trace")]
impl super::Fiber {
    /// See [`fiber_number`].
    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

/// The most bytes ever used of the stack on which the caller's task runs, including use by earlier
/// tasks. Helps to choose a [`stack_size`](crate::Builder::stack_size).
///
/// Works in debug builds only, which clear each stack on return to the pool. `None` in other builds
/// and outside of tasks; 0 under Valgrind.
///
/// # Cost
///
/// Reads the part of the stack that was touched and is not in use.
///
/// # Examples
///
/// ```
/// let runtime = sateen::Runtime::builder().workers(1).build()?;
/// let used = runtime.spawn(|| sateen::stack_used()).join().unwrap();
/// assert_eq!(used.is_some(), cfg!(debug_assertions));
/// # Ok::<(), sateen::BuildError>(())
/// ```
pub fn stack_used() -> Option<usize> {
    #[cfg(debug_assertions)]
    // SAFETY: we are on that stack.
    return context::fiber().and_then(|fiber| unsafe { fiber.record().high_water() });
    #[cfg(not(debug_assertions))]
    None
}
