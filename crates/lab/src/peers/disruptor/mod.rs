//! Adapter for `disruptor`: one producer, and the polling interface, whose consumer is a thread of
//! ours.
//!
//! A poll returns all items there are, even where items are sent one by one, as is usual with it. A
//! consumer that finds nothing pauses like those of the other queues, so the library's own ways of
//! waiting are not used.

use crate::adapter::{Pipe, PipeKind};
use disruptor::{
    BusySpin, EventPoller, Producer, SingleProducer, SingleProducerBarrier, build_single_producer,
};

/// One item at a time.
pub(crate) struct Disruptor;
/// Sixteen items at a time.
pub(crate) struct DisruptorBatch;

type Sender = SingleProducer<u64, disruptor::SingleConsumerBarrier>;
type Receiver = EventPoller<u64, SingleProducerBarrier>;

/// Creates a ring with one producer and one consumer.
fn open(capacity: usize) -> (Vec<Sender>, Vec<Receiver>) {
    let (receiver, builder) = build_single_producer(capacity, || 0, BusySpin).new_event_poller();
    (vec![builder.build()], vec![receiver])
}

#[inline(always)]
fn receive(receiver: &mut Receiver, mut take: impl FnMut(u64)) -> usize {
    let Ok(mut events) = receiver.poll() else { return 0 };
    let mut count = 0;
    for event in &mut events {
        take(*event);
        count += 1;
    }
    count
}

impl Pipe for Disruptor {
    const NAME: &'static str = "disruptor";
    const KIND: PipeKind = PipeKind::Spsc;
    const MOST: usize = 1;
    type Sender = Sender;
    type Receiver = Receiver;

    fn open(capacity: usize, _: usize, _: usize) -> (Vec<Sender>, Vec<Receiver>) {
        open(capacity)
    }

    #[inline(always)]
    fn send(sender: &mut Sender, first: u64, _count: usize) -> usize {
        usize::from(sender.try_publish(|event| *event = first).is_ok())
    }

    #[inline(always)]
    fn receive(receiver: &mut Receiver, take: impl FnMut(u64)) -> usize {
        receive(receiver, take)
    }
}

impl Pipe for DisruptorBatch {
    const NAME: &'static str = "disruptor";
    const KIND: PipeKind = PipeKind::Spsc;
    const MOST: usize = 1;
    const BATCH: usize = 16;
    type Sender = Sender;
    type Receiver = Receiver;

    fn open(capacity: usize, _: usize, _: usize) -> (Vec<Sender>, Vec<Receiver>) {
        open(capacity)
    }

    #[inline(always)]
    fn send(sender: &mut Sender, first: u64, count: usize) -> usize {
        let sent = sender.try_batch_publish(count, |events| {
            events.zip(first..).for_each(|(event, item)| *event = item);
        });
        sent.map_or(0, |_| count)
    }

    #[inline(always)]
    fn receive(receiver: &mut Receiver, take: impl FnMut(u64)) -> usize {
        receive(receiver, take)
    }
}
