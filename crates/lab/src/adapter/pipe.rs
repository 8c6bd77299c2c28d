//! Queues between threads that only send and threads that only receive.

/// A queue between producers and consumers, which asks again where there is no room, or nothing.
pub(crate) trait Pipe: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Most producers that it serves, and most consumers.
    const MOST: usize = usize::MAX;
    /// Items that go in at once.
    const BATCH: usize = 1;
    type Sender: Send;
    type Receiver: Send;

    /// The ends of one with room for at least `capacity` items, a power of two, if that is limited.
    fn open(
        capacity: usize,
        producers: usize,
        consumers: usize,
    ) -> (Vec<Self::Sender>, Vec<Self::Receiver>);

    /// Sends the numbers from `first` on, up to `count` of them, [`Pipe::BATCH`] at most; how many.
    fn send(sender: &mut Self::Sender, first: u64, count: usize) -> usize;

    /// Hands to `take` what there is, as many at once as is usual there; how many, 0 if there is nothing.
    fn receive(receiver: &mut Self::Receiver, take: impl FnMut(u64)) -> usize;
}

/// Does something with each queue.
pub(crate) trait PipeVisitor {
    fn visit<P: Pipe>(&mut self);
}

/// What kind of queue is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PipeKind {
    /// One producer, one consumer, limited.
    Spsc,
    /// Any number of each, limited.
    Bounded,
    /// The same without a limit.
    Unbounded,
}

impl PipeKind {
    pub(crate) const ALL: [Self; 3] = [Self::Spsc, Self::Bounded, Self::Unbounded];

    /// As in the identity.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Spsc => "spsc",
            Self::Bounded => "mpmc-bounded",
            Self::Unbounded => "mpmc-unbounded",
        }
    }
}

/// Shows `visitor` our queue of the kind and, if asked, the peers; those that send in batches if `batches`.
pub(crate) fn visit_pipes(
    peers: bool,
    kind: PipeKind,
    batches: bool,
    visitor: &mut impl PipeVisitor,
) {
    crate::ours::visit_pipes(kind, batches, visitor);
    if peers {
        crate::peers::visit_pipes(kind, batches, visitor);
    }
}
