//! Runtimes whose tasks may block without blocking their worker.

use super::forkjoin::ForkJoin;
use super::submit::Submit;

/// A runtime that suspends a blocked task.
pub(crate) trait Fibers: Submit + ForkJoin<Pool = <Self as Submit>::Pool> {
    /// A flag that tasks wait for.
    type Event: Clone + Send + Sync + 'static;

    /// Creates an event that is not set.
    fn event() -> Self::Event;
    /// Task: blocks until the event is set.
    fn wait(event: &Self::Event);
    /// Task: runs `f` with the context of the worker that it is on.
    fn here(f: impl FnOnce(&mut Self::Ctx<'_>));
    /// Task: returns the number of the worker that it is on.
    fn worker() -> Option<usize>;
    /// Any thread: sets the event.
    fn set(event: &Self::Event);
}
