//! What a task can learn of the fiber that it runs on.

use crate::context;

/// The number of the fiber that the caller runs on; none outside of tasks.
///
/// Identifies a task among those of one thread in few bits: while a task lives, no other task of
/// the process has its number. Numbers are used again, by every 2^32th fiber: there are as many
/// fibers as tasks were ever suspended at once. [`TaskId`](crate::TaskId) has 64 bits. A branch has
/// the number of the fiber that runs it.
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

/// Bytes that have ever been used of the stack that the caller's task runs on, by earlier tasks
/// too. For choosing a [`stack_size`](crate::Builder::stack_size).
///
/// Works in debug builds only, which clear each stack when it comes back. `None` in other builds
/// and outside of tasks; 0 under Valgrind.
///
/// # Cost
///
/// It reads the part of the stack that was touched and is not in use.
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
