//! Our queues between producers and consumers.

use crate::adapter::{OURS, Pipe, PipeKind};
use sateen::queue::mpmc;
use sateen::queue::spsc::{self, Consumer, Producer};
use std::sync::Arc;

/// How many items a batch has.
const BATCH: usize = 16;

pub(crate) type Spsc = SpscOf<1>;
pub(crate) type SpscBatch = SpscOf<BATCH>;
pub(crate) type Bounded = Mpmc<mpmc::Bounded<u64>, 1>;
pub(crate) type BoundedBatch = Mpmc<mpmc::Bounded<u64>, BATCH>;
pub(crate) type Unbounded = Mpmc<mpmc::Unbounded<u64>, 1>;
pub(crate) type UnboundedBatch = Mpmc<mpmc::Unbounded<u64>, BATCH>;

/// Returns `N` numbers from `first` on.
#[inline(always)]
fn numbers<const N: usize>(first: u64) -> [u64; N] {
    std::array::from_fn(|i| first + i as u64)
}

/// One producer and one consumer, in batches of `N`.
pub(crate) struct SpscOf<const N: usize>;

impl<const N: usize> Pipe for SpscOf<N> {
    const NAME: &'static str = OURS;
    const KIND: PipeKind = PipeKind::Spsc;
    const MOST: usize = 1;
    const BATCH: usize = N;
    type Sender = Producer<u64>;
    type Receiver = (Consumer<u64>, Vec<u64>);

    fn open(capacity: usize, _: usize, _: usize) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
        let (producer, consumer) = spsc::bounded(capacity);
        (vec![producer], vec![(consumer, Vec::with_capacity(N))])
    }

    #[inline(always)]
    fn send(producer: &mut Producer<u64>, first: u64, count: usize) -> usize {
        if N == 1 {
            return usize::from(producer.push(first).is_ok());
        }
        producer.push_from(&mut numbers::<N>(first)[..count].iter().copied()).unwrap_or(0)
    }

    #[inline(always)]
    fn receive((consumer, taken): &mut Self::Receiver, take: impl FnMut(u64)) -> usize {
        if N == 1 {
            return consumer.pop().map(take).map_or(0, |()| 1);
        }
        let count = consumer.pop_into(taken, N).unwrap_or(0);
        taken.drain(..).for_each(take);
        count
    }
}

/// What the two queues for any number of threads have in common.
pub(crate) trait Shared: Send + Sync + 'static {
    const KIND: PipeKind;
    fn new(capacity: usize) -> Self;
    fn push(&self, item: u64) -> bool;
    fn push_from(&self, items: &[u64]) -> usize;
    fn pop(&self) -> Option<u64>;
    fn pop_into(&self, taken: &mut Vec<u64>, most: usize) -> usize;
}

macro_rules! shared {
    ($queue:ident, |$capacity:pat_param| $new:expr) => {
        impl Shared for mpmc::$queue<u64> {
            const KIND: PipeKind = PipeKind::$queue;

            fn new($capacity: usize) -> Self {
                $new
            }

            #[inline(always)]
            fn push(&self, item: u64) -> bool {
                mpmc::$queue::push(self, item).is_ok()
            }

            #[inline(always)]
            fn push_from(&self, items: &[u64]) -> usize {
                mpmc::$queue::push_from(self, &mut items.iter().copied()).unwrap_or(0)
            }

            #[inline(always)]
            fn pop(&self) -> Option<u64> {
                mpmc::$queue::pop(self).ok()
            }

            #[inline(always)]
            fn pop_into(&self, taken: &mut Vec<u64>, most: usize) -> usize {
                mpmc::$queue::pop_into(self, taken, most).unwrap_or(0)
            }
        }
    };
}

shared!(Bounded, |capacity| mpmc::Bounded::new(capacity));
shared!(Unbounded, |_| mpmc::Unbounded::new());

/// Any number of producers and consumers, in batches of `N`.
pub(crate) struct Mpmc<Q, const N: usize>(std::marker::PhantomData<Q>);

impl<Q: Shared, const N: usize> Pipe for Mpmc<Q, N> {
    const NAME: &'static str = OURS;
    const KIND: PipeKind = Q::KIND;
    const BATCH: usize = N;
    type Sender = Arc<Q>;
    type Receiver = (Arc<Q>, Vec<u64>);

    fn open(
        capacity: usize,
        producers: usize,
        consumers: usize,
    ) -> (Vec<Self::Sender>, Vec<Self::Receiver>) {
        let queue = Arc::new(Q::new(capacity));
        let receiver = || (Arc::clone(&queue), Vec::with_capacity(N));
        (vec![Arc::clone(&queue); producers], (0..consumers).map(|_| receiver()).collect())
    }

    #[inline(always)]
    fn send(queue: &mut Arc<Q>, first: u64, count: usize) -> usize {
        if N == 1 {
            return usize::from(queue.push(first));
        }
        queue.push_from(&numbers::<N>(first)[..count])
    }

    #[inline(always)]
    fn receive((queue, taken): &mut Self::Receiver, take: impl FnMut(u64)) -> usize {
        if N == 1 {
            return queue.pop().map(take).map_or(0, |()| 1);
        }
        let count = queue.pop_into(taken, N);
        taken.drain(..).for_each(take);
        count
    }
}
