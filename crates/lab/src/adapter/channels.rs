//! Channels whose ends wait.

/// A library's channels of numbers.
pub(crate) trait Channels: 'static {
    /// Third part of the identity. Types may share a name if at most one of them serves a use.
    const NAME: &'static str;
    type Sender: Send;
    type Receiver: Send;

    /// Returns whether these channels can be used so.
    fn serves(_: Use) -> bool {
        true
    }

    /// Returns whether a run may never end. Each turn then has a time limit.
    fn may_hang(_: Use) -> bool {
        false
    }

    /// Opens a channel and returns its ends.
    fn open(channel: Use) -> (Vec<Self::Sender>, Vec<Self::Receiver>);

    /// Sends, waiting for room. Returns whether anybody can receive the item.
    fn send(sender: &Self::Sender, item: u64) -> bool;

    /// Receives, waiting for an item. Returns `None` when all senders are gone.
    fn receive(receiver: &Self::Receiver) -> Option<u64>;
}

/// How a channel is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The most items in it; 0 hands items over, `None` means no limit.
    pub(crate) capacity: Option<usize>,
    pub(crate) senders: usize,
    pub(crate) receivers: usize,
}

/// Implements [`Channels`] for a library whose channels have the usual names: `bounded`,
/// `unbounded`, `send`, `recv`. A last argument is its [`Channels::may_hang`].
macro_rules! usual_channels {
    ($library:ty, $name:expr, $($channels:ident)::+ $(, $may_hang:expr)?) => {
        const _: () = {
            use $($channels)::+ as channels;

            impl $crate::adapter::Channels for $library {
                const NAME: &'static str = $name;
                type Sender = channels::Sender<u64>;
                type Receiver = channels::Receiver<u64>;

                $(fn may_hang(channel: $crate::adapter::Use) -> bool {
                    $may_hang(channel)
                })?

                fn open(channel: $crate::adapter::Use) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
                    let (sender, receiver) =
                        channel.capacity.map_or_else(channels::unbounded, channels::bounded);
                    (vec![sender; channel.senders], vec![receiver; channel.receivers])
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
