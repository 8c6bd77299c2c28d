//! Adapter for `st3`: a bounded deque whose thieves move items into a queue of their own.

use crate::adapter::{Deque, Taken};
use st3::StealError;
use st3::lifo::{Stealer, Worker};

/// The LIFO flavour.
pub(crate) struct St3;

/// A thief needs a queue for what it steals, even if it takes one item at a time.
pub(crate) struct Thief {
    from: Stealer<u64>,
    own: Worker<u64>,
}

impl Deque for St3 {
    const NAME: &'static str = "st3";
    type Worker = Worker<u64>;
    type Stealer = Thief;

    fn new(capacity: usize) -> Self::Worker {
        Worker::new(capacity)
    }

    fn stealer(worker: &Self::Worker) -> Self::Stealer {
        Thief { from: worker.stealer(), own: Worker::new(2) }
    }

    #[inline(always)]
    fn push(worker: &Self::Worker, item: u64) {
        assert!(worker.push(item).is_ok(), "st3: the capacity was to suffice");
    }

    #[inline(always)]
    fn pop(worker: &Self::Worker) -> Option<u64> {
        worker.pop()
    }

    #[inline(always)]
    fn steal(stealer: &Self::Stealer) -> Taken {
        match stealer.from.steal_and_pop(&stealer.own, |_| 1) {
            Ok((item, _)) => Taken::Item(item),
            Err(StealError::Empty) => Taken::Empty,
            Err(StealError::Busy) => Taken::Retry,
        }
    }
}
