//! What a task can query about itself.

use super::{Header, Priority, TaskId, cancel};
use crate::context;
use std::panic::Location;
use std::sync::Arc;

/// The calling task, as [`current_task`] saw it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CurrentTask {
    /// Its number.
    pub id: TaskId,
    /// Its name, if it was given one.
    pub name: Option<Arc<str>>,
    /// Its priority.
    pub priority: Priority,
    /// Where it was spawned.
    pub location: &'static Location<'static>,
    /// Whether it has been cancelled.
    pub cancelled: bool,
}

/// The task that the caller runs in, or works for as a branch; `None` outside of tasks.
///
/// ```
/// use sateen::{Spawn, current_task};
/// let task = Spawn::new().name("reader").spawn(|| current_task().and_then(|c| c.name));
/// assert_eq!(task.join().unwrap().as_deref(), Some("reader"));
/// assert!(current_task().is_none());
/// ```
pub fn current_task() -> Option<CurrentTask> {
    let fiber = context::fiber()?;
    // SAFETY: what runs on the calling fiber lies on its stack, and keeps its task alive.
    let task: &Header = unsafe { fiber.running().as_ref()?.task.as_ref()? };
    Some(CurrentTask {
        id: task.id(),
        name: task.name().cloned(),
        priority: task.priority(),
        location: task.location(),
        cancelled: cancel::is_cancelled(),
    })
}
