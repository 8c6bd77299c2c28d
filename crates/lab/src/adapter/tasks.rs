//! Libraries whose tasks have handles that can be joined.

use crate::error::Error;

/// A library with a `JoinHandle`.
///
/// The tree of tasks is the adapter's own, because blocking and asynchronous code cannot be one
/// function.
pub(crate) trait Tasks: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Running workers; dropping it ends them.
    type Pool;

    /// Starts `workers` workers, in the library's fastest form for so many.
    ///
    /// # Errors
    /// A thread that cannot be created.
    fn build(workers: usize) -> Result<Self::Pool, Error>;

    /// The sum of the ordinals below `leaves`, a power of ten: each task spawns ten and joins them,
    /// a leaf returns its ordinal.
    fn skynet(pool: &Self::Pool, leaves: u64) -> u64;
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
