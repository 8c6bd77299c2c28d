//! Hooks of the user's in the life of worker threads.

use crate::unwind::DiscardOnDrop;

/// A function called with a worker's index on its thread.
pub(crate) type Hook = Box<dyn Fn(usize) + Send + Sync>;

/// Start and exit hooks.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) on_start: Option<DiscardOnDrop<Hook>>,
    pub(crate) on_exit: Option<DiscardOnDrop<Hook>>,
}
