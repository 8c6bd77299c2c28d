//! Adapters for `rtrb`: one producer and one consumer.

use crate::adapter::{Pipe, PipeKind};
use rtrb::{Consumer, Producer, RingBuffer};

/// How many items a batch has.
const BATCH: usize = 16;

/// One item at a time.
pub(crate) struct Rtrb;
/// Sixteen items at a time, copied from and to a slice.
pub(crate) struct RtrbBatch;

fn open(capacity: usize) -> (Vec<Producer<u64>>, Vec<Consumer<u64>>) {
    let (producer, consumer) = RingBuffer::new(capacity);
    (vec![producer], vec![consumer])
}

impl Pipe for Rtrb {
    const NAME: &'static str = "rtrb";
    const KIND: PipeKind = PipeKind::Spsc;
    const MOST: usize = 1;
    type Sender = Producer<u64>;
    type Receiver = Consumer<u64>;

    fn open(capacity: usize, _: usize, _: usize) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
        open(capacity)
    }

    #[inline(always)]
    fn send(producer: &mut Producer<u64>, first: u64, _count: usize) -> usize {
        usize::from(producer.push(first).is_ok())
    }

    #[inline(always)]
    fn receive(consumer: &mut Consumer<u64>, take: impl FnMut(u64)) -> usize {
        consumer.pop().map(take).map_or(0, |()| 1)
    }
}

impl Pipe for RtrbBatch {
    const NAME: &'static str = "rtrb";
    const KIND: PipeKind = PipeKind::Spsc;
    const MOST: usize = 1;
    const BATCH: usize = BATCH;
    type Sender = Producer<u64>;
    type Receiver = Consumer<u64>;

    fn open(capacity: usize, _: usize, _: usize) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
        open(capacity)
    }

    #[inline(always)]
    fn send(producer: &mut Producer<u64>, first: u64, count: usize) -> usize {
        let numbers: [u64; BATCH] = std::array::from_fn(|i| first + i as u64);
        producer.push_partial_slice(&numbers[..count]).0.len()
    }

    #[inline(always)]
    fn receive(consumer: &mut Consumer<u64>, mut take: impl FnMut(u64)) -> usize {
        let mut room = [0; BATCH];
        let (taken, _) = consumer.pop_partial_slice(&mut room);
        taken.iter().for_each(|item| take(*item));
        taken.len()
    }
}
