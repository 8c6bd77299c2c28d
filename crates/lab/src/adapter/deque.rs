//! Work-stealing deques with a LIFO owner.

/// What a thief got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Item(u64),
    Empty,
    /// Another thread won the race: try again.
    Retry,
}

/// A deque of words: the deque is measured, not the items.
pub(crate) trait Deque: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// The owner's end. LIFO for the owner, FIFO for thieves.
    type Worker: Send;
    /// A thief's handle; each thief has its own.
    type Stealer: Send;

    /// Creates an empty deque that will never hold more than `capacity` items.
    fn new(capacity: usize) -> Self::Worker;
    /// Returns a handle for one more thief.
    fn stealer(worker: &Self::Worker) -> Self::Stealer;
    /// Owner: pushes an item.
    fn push(worker: &Self::Worker, item: u64);
    /// Owner: pops the newest item.
    fn pop(worker: &Self::Worker) -> Option<u64>;
    /// Thief: steals the oldest item.
    fn steal(stealer: &Self::Stealer) -> Taken;
}
