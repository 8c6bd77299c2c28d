//! Libraries whose tasks can be waited for.

use crate::error::Error;
use crate::experiment::Environment;

/// A form of skynet: what a node does to get its children's sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Joins their handles.
    Join,
    /// The same, and every leaf gives way once, so that each is a fiber with a stack of its own.
    Suspend,
    /// Blocks until detached children have delivered.
    Detach,
    /// Receives from a channel of its own what detached children send to it.
    Channel,
    /// Awaits their handles: tasks are futures.
    Async,
}

/// A library with tasks.
///
/// The tree of tasks is the adapter's own, because blocking and asynchronous code cannot be one
/// function.
pub(crate) trait Tasks: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Whether dropping the pool leaves threads behind, so that each turn needs a process of its own.
    const LINGERS: bool = false;
    /// More workers than this make no sense.
    const MOST_WORKERS: usize = usize::MAX;
    /// The forms of skynet that it has.
    const FORMS: &'static [Form];
    /// Running workers; dropping it ends them.
    type Pool;

    /// Starts `workers` workers, in the library's fastest form for so many.
    ///
    /// # Errors
    /// A thread that cannot be created.
    fn build(workers: usize) -> Result<Self::Pool, Error>;

    /// What its processes need for so many tasks at once.
    fn environment(_tasks: u64) -> Environment {
        || Ok(None)
    }

    /// The sum of the ordinals below `leaves`, a power of ten: each task starts ten and adds up what
    /// they return, a leaf returns its ordinal. `form` is one of [`Tasks::FORMS`].
    fn skynet(pool: &Self::Pool, form: Form, leaves: u64) -> u64;
}

/// Does something with each library.
pub(crate) trait TasksVisitor {
    fn visit<T: Tasks>(&mut self);
}

/// Shows `visitor` our runtime and, if asked, the peers.
pub(crate) fn visit_tasks(peers: bool, visitor: &mut impl TasksVisitor) {
    crate::ours::visit_tasks(visitor);
    if peers {
        crate::peers::visit_tasks(visitor);
    }
}

/// Shows `visitor` our runtime under each scheduling policy and, if asked, the peers.
pub(crate) fn visit_policies(peers: bool, visitor: &mut impl TasksVisitor) {
    crate::ours::visit_policies(visitor);
    if peers {
        crate::peers::visit_tasks(visitor);
    }
}
