//! Queues that any thread may push to and pop from.

/// A queue without a lock.
pub(crate) trait Queue: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    type Of: Send + Sync;

    /// One for at most `capacity` items, if that is limited.
    fn new(capacity: usize) -> Self::Of;

    fn push(queue: &Self::Of, item: u64);

    fn pop(queue: &Self::Of) -> Option<u64>;
}

/// Does something with each queue.
pub(crate) trait QueueVisitor {
    fn visit<Q: Queue>(&mut self);
}

/// Shows `visitor` our queue and, if asked, the peers.
pub(crate) fn visit_queues(peers: bool, visitor: &mut impl QueueVisitor) {
    crate::ours::visit_queues(visitor);
    if peers {
        crate::peers::visit_queues(visitor);
    }
}
