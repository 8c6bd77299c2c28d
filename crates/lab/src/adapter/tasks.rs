//! Libraries whose tasks can be waited for.

use super::program::Environment;
use crate::error::Error;

/// A form of skynet: how a node gets the sums of its ten subtasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The node joins their handles.
    Join,
    /// The same, and every leaf yields once, so that each leaf is a fiber with a stack of its own.
    Suspend,
    /// The node blocks until the detached subtasks have delivered.
    Detach,
    /// The node receives from a channel of its own what the detached subtasks send to it.
    Channel,
    /// The node awaits their handles: tasks are futures.
    Async,
}

/// A library with tasks.
///
/// The tree of tasks is the adapter's own, because blocking and asynchronous code cannot be one
/// function.
pub(crate) trait Tasks: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Whether dropping the pool leaves threads behind. Each turn then runs in a process of its
    /// own.
    const LINGERS: bool = false;
    /// The most workers that make sense.
    const MOST_WORKERS: usize = usize::MAX;
    /// The forms of skynet that the library has.
    const FORMS: &'static [Form];
    /// Running workers; dropping it ends them.
    type Pool;

    /// Starts `workers` workers, in the library's fastest form for that number.
    ///
    /// # Errors
    /// A thread cannot be created.
    fn build(workers: usize) -> Result<Self::Pool, Error>;

    /// What the library's processes need for this many tasks at once.
    fn environment(_tasks: u64) -> Environment {
        || Ok(None)
    }

    /// Returns the sum of the ordinals below `leaves`, a power of ten. Each task starts ten and
    /// adds up what they return; a leaf returns its ordinal. `form` is one of [`Tasks::FORMS`].
    fn skynet(pool: &Self::Pool, form: Form, leaves: u64) -> u64;
}
