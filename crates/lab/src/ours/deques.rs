//! The stages of `sateen-deque`.

use crate::adapter::{Deque, OURS, STAGES, Taken};
use sateen_deque::{Stage, Steal, Stealer, Worker};

/// Classical Chase-Lev.
pub(crate) struct Plain;
/// Data that threads share lies on lines of its own; no needless shared loads and stores.
pub(crate) struct Padded;
/// The owner caches the last seen thief index. The default.
pub(crate) struct Cached;
/// No fence and no locked instruction on the owner's path: the thief pays.
pub(crate) struct Asymmetric;

/// Implements [`Deque`] for `$adapter` by the stage of the same name.
macro_rules! staged {
    ($adapter:ident, $name:expr) => {
        impl Deque for $adapter {
            const NAME: &'static str = $name;
            type Worker = Worker<u64, sateen_deque::$adapter>;
            type Stealer = Stealer<u64, sateen_deque::$adapter>;

            fn new(_capacity: usize) -> Self::Worker {
                Worker::staged_lifo()
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
                taken(stealer)
            }
        }
    };
}

staged!(Plain, STAGES[0]);
staged!(Padded, STAGES[1]);
staged!(Cached, OURS);
staged!(Asymmetric, STAGES[3]);

#[inline(always)]
fn taken<S: Stage>(stealer: &Stealer<u64, S>) -> Taken {
    match stealer.steal() {
        Steal::Success(item) => Taken::Item(item),
        Steal::Empty => Taken::Empty,
        Steal::Retry => Taken::Retry,
    }
}
