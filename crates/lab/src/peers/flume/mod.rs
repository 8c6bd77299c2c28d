//! Adapter for `flume`, with threads that block.

use crate::adapter::Channels;
use flume::{Receiver, Sender, bounded, unbounded};

/// Its channels.
pub(crate) struct Flume;

impl Channels for Flume {
    const NAME: &'static str = "flume";
    type Sender = Sender<u64>;
    type Receiver = Receiver<u64>;

    fn open(capacity: Option<usize>) -> (Sender<u64>, Receiver<u64>) {
        capacity.map_or_else(unbounded, bounded)
    }

    fn share(receiver: &Receiver<u64>) -> Option<Receiver<u64>> {
        Some(receiver.clone())
    }

    #[inline(always)]
    fn send(sender: &Sender<u64>, item: u64) -> bool {
        sender.send(item).is_ok()
    }

    #[inline(always)]
    fn receive(receiver: &Receiver<u64>) -> Option<u64> {
        receiver.recv().ok()
    }
}
