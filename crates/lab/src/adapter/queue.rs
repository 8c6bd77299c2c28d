//! Queues that any thread may push to and pop from.

/// A queue without a lock.
pub(crate) trait Queue: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    type Of: Send + Sync;

    /// Creates a queue for at most `capacity` items, if it is limited.
    fn new(capacity: usize) -> Self::Of;

    fn push(queue: &Self::Of, item: u64);

    fn pop(queue: &Self::Of) -> Option<u64>;
}
