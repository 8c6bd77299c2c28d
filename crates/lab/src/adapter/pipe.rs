//! Queues between threads that only send and threads that only receive.

/// A queue between producers and consumers. An end that finds it full or empty tries again.
pub(crate) trait Pipe: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    const KIND: PipeKind;
    /// The most producers, and the most consumers, that it serves.
    const MOST: usize = usize::MAX;
    /// How many items go in at once.
    const BATCH: usize = 1;
    type Sender: Send;
    type Receiver: Send;

    /// Opens a queue and returns its ends. If it is limited, it has room for at least `capacity`
    /// items, a power of two.
    fn open(
        capacity: usize,
        producers: usize,
        consumers: usize,
    ) -> (Vec<Self::Sender>, Vec<Self::Receiver>);

    /// Sends the numbers from `first` on, up to `count` of them, at most [`Pipe::BATCH`]. Returns
    /// how many it sent.
    fn send(sender: &mut Self::Sender, first: u64, count: usize) -> usize;

    /// Passes to `take` as many items as is usual with this queue. Returns how many, 0 if it is
    /// empty.
    fn receive(receiver: &mut Self::Receiver, take: impl FnMut(u64)) -> usize;
}

/// A kind of queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PipeKind {
    /// One producer, one consumer, limited.
    Spsc,
    /// Any number of each, limited.
    Bounded,
    /// Any number of each, without a limit.
    Unbounded,
}

impl PipeKind {
    pub(crate) const ALL: [Self; 3] = [Self::Spsc, Self::Bounded, Self::Unbounded];

    /// The name in identities.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Spsc => "spsc",
            Self::Bounded => "mpmc-bounded",
            Self::Unbounded => "mpmc-unbounded",
        }
    }
}
