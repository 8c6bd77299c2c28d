//! Adapters for `crossbeam-deque`, `crossbeam-queue` and `crossbeam-channel`.

mod channels;
mod pipes;
mod queues;

use crate::adapter::{Deque, Taken};
use crossbeam_deque::{Steal, Stealer, Worker};
pub(crate) use pipes::{ArrayPipe, SegPipe};
pub(crate) use queues::{Array, Seg};

/// The Chase-Lev deque with epoch reclamation, and the channels.
pub(crate) struct Crossbeam;

impl Deque for Crossbeam {
    const NAME: &'static str = "crossbeam";
    type Worker = Worker<u64>;
    type Stealer = Stealer<u64>;

    fn new(_capacity: usize) -> Self::Worker {
        Worker::new_lifo()
    }

    fn stealer(worker: &Self::Worker) -> Self::Stealer {
        worker.stealer()
    }

    #[inline(always)]
    fn push(worker: &Self::Worker, item: u64) {
        worker.push(item);
    }

    #[inline(always)]
    fn pop(worker: &Self::Worker) -> Option<u64> {
        worker.pop()
    }

    #[inline(always)]
    fn steal(stealer: &Self::Stealer) -> Taken {
        match stealer.steal() {
            Steal::Success(item) => Taken::Item(item),
            Steal::Empty => Taken::Empty,
            Steal::Retry => Taken::Retry,
        }
    }
}
