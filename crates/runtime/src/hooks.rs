//! Hooks of the user's in the life of worker threads.

use crate::unwind::Held;

/// A function called with a worker's index on its thread.
pub(crate) type Hook = Box<dyn Fn(usize) + Send + Sync>;

/// Start and exit hooks.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) on_start: Option<Held<Hook>>,
    pub(crate) on_exit: Option<Held<Hook>>,
}
