//! The user's hooks in worker threads.

use crate::unwind::Held;

/// A function that is called on a worker's thread with the worker's index.
pub(crate) type Hook = Box<dyn Fn(usize) + Send + Sync>;

/// Start and exit hooks.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) on_start: Option<Held<Hook>>,
    pub(crate) on_exit: Option<Held<Hook>>,
}
