//! Sources that can only be halved: a few times in advance, and again where a half is stolen.

use crate::iter::plumbing::{Folder, Reducer, UnindexedConsumer, UnindexedProducer};
use sateen_base::unwind::Held;
use sateen_runtime::{join, worker_index};

/// Drives `consumer` with the items of `producer`.
///
/// # Panics
/// With the panics of both.
///
/// ```
/// use sateen::iter::plumbing::{UnindexedConsumer, UnindexedProducer, bridge_unindexed};
///
/// fn drive<P: UnindexedProducer, C: UnindexedConsumer<P::Item>>(items: P, end: C) -> C::Result {
///     bridge_unindexed(items, end)
/// }
/// ```
pub fn bridge_unindexed<P, C>(producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let here = worker_index();
    halve(Splits { left: sateen_runtime::iter::workers(), here }, producer, consumer)
}

/// About how many pieces this one may still become. What has begun cannot be halved any more, so
/// there are more pieces than workers from the start.
#[derive(Clone, Copy)]
struct Splits {
    left: usize,
    /// The worker that split the piece off.
    here: Option<usize>,
}

impl Splits {
    /// Takes half of them; false if none are left.
    fn take(&mut self) -> bool {
        let here = worker_index();
        if here != self.here {
            // It was stolen, so others may be idle, too.
            self.here = here;
            self.left = (self.left / 2).max(sateen_runtime::iter::workers());
            return true;
        }
        let any = self.left > 0;
        self.left /= 2;
        any
    }
}

fn halve<P, C>(mut splits: Splits, producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    if consumer.full() {
        // Before there is a result, which a panic of this destructor would leak.
        let consumer = Held::new(consumer);
        drop(producer);
        return consumer.release().into_folder().complete();
    }
    if !splits.take() {
        return producer.fold_with(consumer.into_folder()).complete();
    }
    let (left, right) = match producer.split() {
        (left, Some(right)) => (left, right),
        (all, None) => return all.fold_with(consumer.into_folder()).complete(),
    };
    let (reducer, first) = (consumer.to_reducer(), consumer.split_off_left());
    let (a, b) = join(|| halve(splits, left, first), || halve(splits, right, consumer));
    reducer.reduce(a, b)
}
