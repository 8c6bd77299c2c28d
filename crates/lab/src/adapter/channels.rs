//! Channels whose ends wait.

/// A library's channels of numbers.
pub(crate) trait Channels: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Most receivers of one channel.
    const MOST_RECEIVERS: usize = usize::MAX;
    type Sender: Clone + Send;
    type Receiver: Send;

    /// Opens a channel of at most `capacity` items; 0 hands items over, `None` means no limit.
    fn open(capacity: Option<usize>) -> (Self::Sender, Self::Receiver);

    /// Returns another receiver of the same channel, if the channel can have one.
    fn share(receiver: &Self::Receiver) -> Option<Self::Receiver>;

    /// Sends, waiting for room. Returns whether anybody can receive the item.
    fn send(sender: &Self::Sender, item: u64) -> bool;

    /// Receives, waiting for an item. Returns `None` when all senders are gone.
    fn receive(receiver: &Self::Receiver) -> Option<u64>;
}

/// Implements [`Channels`] for a library whose channels have the usual names: `bounded`,
/// `unbounded`, `send`, `recv`.
macro_rules! usual_channels {
    ($library:ty, $name:expr, $($channels:ident)::+) => {
        const _: () = {
            use $($channels)::+ as channels;

            impl $crate::adapter::Channels for $library {
                const NAME: &'static str = $name;
                type Sender = channels::Sender<u64>;
                type Receiver = channels::Receiver<u64>;

                fn open(capacity: Option<usize>) -> (Self::Sender, Self::Receiver) {
                    capacity.map_or_else(channels::unbounded, channels::bounded)
                }

                fn share(receiver: &Self::Receiver) -> Option<Self::Receiver> {
                    Some(receiver.clone())
                }

                #[inline(always)]
                fn send(sender: &Self::Sender, item: u64) -> bool {
                    sender.send(item).is_ok()
                }

                #[inline(always)]
                fn receive(receiver: &Self::Receiver) -> Option<u64> {
                    receiver.recv().ok()
                }
            }
        };
    };
}
pub(crate) use usual_channels;
