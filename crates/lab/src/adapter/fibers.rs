//! Runtimes whose tasks may block without blocking their worker.

use super::{ForkJoin, Submit};

/// A runtime that suspends a blocked task.
pub(crate) trait Fibers: Submit + ForkJoin<Pool = <Self as Submit>::Pool> {
    /// A flag that tasks wait for.
    type Event: Clone + Send + Sync + 'static;

    /// An event that is not set.
    fn event() -> Self::Event;
    /// Task: blocks until the event is set.
    fn wait(event: &Self::Event);
    /// Task: runs `f` with the place it has in the runtime.
    fn here(f: impl FnOnce(&mut Self::Ctx<'_>));
    /// Task: which worker it is on.
    fn place() -> Option<usize>;
    /// Any thread: sets the event.
    fn set(event: &Self::Event);
}

/// Does something with each runtime.
pub(crate) trait FibersVisitor {
    fn visit<F: Fibers>(&mut self);
}

/// Shows `visitor` our runtime. No peer suspends a task that blocks.
pub(crate) fn visit_fibers(visitor: &mut impl FibersVisitor) {
    crate::ours::visit_fibers(visitor);
}
