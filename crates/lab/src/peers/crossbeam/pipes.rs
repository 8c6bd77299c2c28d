//! Adapters for `crossbeam-queue` between producers and consumers.

use crate::adapter::{Pipe, PipeKind};
use crossbeam_queue::{ArrayQueue, SegQueue};
use std::sync::Arc;

/// The bounded queue.
pub(crate) struct ArrayPipe;

impl Pipe for ArrayPipe {
    const NAME: &'static str = "crossbeam";
    const KIND: PipeKind = PipeKind::Bounded;
    type Sender = Arc<ArrayQueue<u64>>;
    type Receiver = Arc<ArrayQueue<u64>>;

    fn open(
        capacity: usize,
        producers: usize,
        consumers: usize,
    ) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
        let queue = Arc::new(ArrayQueue::new(capacity));
        (vec![Arc::clone(&queue); producers], vec![queue; consumers])
    }

    #[inline(always)]
    fn send(sender: &mut Self::Sender, first: u64, _count: usize) -> usize {
        usize::from(sender.push(first).is_ok())
    }

    #[inline(always)]
    fn receive(receiver: &mut Self::Receiver, take: impl FnMut(u64)) -> usize {
        receiver.pop().map(take).map_or(0, |()| 1)
    }
}

/// The unbounded queue.
pub(crate) struct SegPipe;

impl Pipe for SegPipe {
    const NAME: &'static str = "crossbeam";
    const KIND: PipeKind = PipeKind::Unbounded;
    type Sender = Arc<SegQueue<u64>>;
    type Receiver = Arc<SegQueue<u64>>;

    fn open(
        _capacity: usize,
        producers: usize,
        consumers: usize,
    ) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
        let queue = Arc::new(SegQueue::new());
        (vec![Arc::clone(&queue); producers], vec![queue; consumers])
    }

    #[inline(always)]
    fn send(sender: &mut Self::Sender, first: u64, _count: usize) -> usize {
        sender.push(first);
        1
    }

    #[inline(always)]
    fn receive(receiver: &mut Self::Receiver, take: impl FnMut(u64)) -> usize {
        receiver.pop().map(take).map_or(0, |()| 1)
    }
}
