//! Adapter for `crossfire`, with threads that block.
//!
//! The library has a channel for one sender and one receiver, one for many senders, and one for
//! many of both. Each use gets the leanest. A channel that hands items over is not among them: a
//! capacity of 0 counts as 1. The library's advice is to let it look at the number of cores first.

use crate::adapter::{Channels, Use};
use crossfire::{MRx, MTx, Rx, Tx, detect_backoff_cfg, mpmc, mpsc, spsc};

/// Implements [`Channels`] for the two kinds of channels of one module, with and without a limit.
macro_rules! channels {
    (
        $module:ident: $sender:ident, $receiver:ident;
        $bounded:ident, $unbounded:ident if |$ends:ident| $serves:expr;
        $all:expr
    ) => {
        /// With a limit.
        pub(crate) struct $bounded;

        impl Channels for $bounded {
            const NAME: &'static str = "crossfire";
            type Sender = $sender<$module::Array<u64>>;
            type Receiver = $receiver<$module::Array<u64>>;

            fn serves($ends: Use) -> bool {
                $ends.capacity.is_some_and(|capacity| capacity > 0) && $serves
            }

            fn open(channel: Use) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
                detect_backoff_cfg();
                let all = $all;
                all($module::bounded_blocking(channel.capacity.unwrap_or(1)), channel)
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

        /// Without a limit.
        pub(crate) struct $unbounded;

        impl Channels for $unbounded {
            const NAME: &'static str = "crossfire";
            type Sender = $sender<$module::List<u64>>;
            type Receiver = $receiver<$module::List<u64>>;

            fn serves($ends: Use) -> bool {
                $ends.capacity.is_none() && $serves
            }

            fn open(channel: Use) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
                detect_backoff_cfg();
                let all = $all;
                all($module::unbounded_blocking(), channel)
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
}

channels!(
    spsc: Tx, Rx;
    Spsc, SpscUnbounded if |ends| ends.senders == 1 && ends.receivers == 1;
    |(sender, receiver), _: Use| (vec![sender], vec![receiver])
);
channels!(
    mpsc: MTx, Rx;
    Mpsc, MpscUnbounded if |ends| ends.senders > 1 && ends.receivers == 1;
    |(sender, receiver), ends: Use| (vec![sender; ends.senders], vec![receiver])
);
channels!(
    mpmc: MTx, MRx;
    Mpmc, MpmcUnbounded if |ends| ends.receivers > 1;
    |(sender, receiver), ends: Use| (vec![sender; ends.senders], vec![receiver; ends.receivers])
);
