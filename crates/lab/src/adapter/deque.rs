//! Work-stealing deques with a LIFO owner.

/// What a thief got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Item(u64),
    Empty,
    /// Somebody else won the race: try again.
    Retry,
}

/// A deque of words, because what is measured is the deque and not the items.
pub(crate) trait Deque: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// The owner's end. LIFO for the owner, FIFO for thieves.
    type Worker: Send;
    /// A thief's handle; each thief has one of its own.
    type Stealer: Send;

    /// An empty deque that will never hold more than `capacity` items.
    fn new(capacity: usize) -> Self::Worker;
    /// A handle for one more thief.
    fn stealer(worker: &Self::Worker) -> Self::Stealer;
    /// Owner: adds an item.
    fn push(worker: &Self::Worker, item: u64);
    /// Owner: takes the newest item.
    fn pop(worker: &Self::Worker) -> Option<u64>;
    /// Thief: takes the oldest item.
    fn steal(stealer: &Self::Stealer) -> Taken;
}

/// Does something with each deque.
pub(crate) trait DequeVisitor {
    fn visit<D: Deque>(&mut self);
}

/// Shows `visitor` our deques and, if asked, the peers'.
pub(crate) fn visit_deques(peers: bool, visitor: &mut impl DequeVisitor) {
    crate::ours::visit_deques(visitor);
    if peers {
        crate::peers::visit_deques(visitor);
    }
}
