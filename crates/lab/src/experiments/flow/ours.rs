//! Our worker queues, as the loops here use them.

use super::collection::{Collection, Shape, Tally, Ticks};
use crate::adapter::OURS;
use crate::error::{Error, input};
use sateen_flow::{Sender, WorkerQueue};
use std::sync::Arc;

/// Name of worker queues whose workers are bound to one queue.
pub(super) const BOUND: &str = "sateen-bound";

/// An idle worker takes from the others' queues.
pub(super) struct Stealing(WorkerQueue<u64>);
/// Each worker is bound to one queue.
pub(super) struct Bound(WorkerQueue<u64>);

fn start<C: Ticks>(
    shape: Shape,
    clock: &C,
    tally: &Arc<Tally>,
    steal: bool,
) -> Result<WorkerQueue<u64>, Error> {
    let tally = Arc::clone(tally);
    let builder = WorkerQueue::builder().workers(shape.workers).queues(shape.queues);
    let builder = builder.steal(steal).receive_rate(shape.rate).receive_batch(1);
    let started =
        builder.clock(clock.clone()).start(move |worker, item: &mut u64| tally.add(worker, *item));
    started.map_err(|e| input(e.to_string()))
}

macro_rules! collection {
    ($kind:ident, $name:expr, $steal:literal) => {
        impl Collection for $kind {
            const NAME: &'static str = $name;
            type Sender<'a> = Sender<u64>;

            fn start<C: Ticks>(shape: Shape, clock: &C, tally: &Arc<Tally>) -> Result<Self, Error> {
                start(shape, clock, tally, $steal).map(Self)
            }

            fn sender(&self) -> Sender<u64> {
                self.0.sender()
            }

            #[inline(always)]
            fn send(sender: &mut Sender<u64>, item: u64) -> bool {
                sender.send(item).is_ok()
            }

            fn finish(self) {
                self.0.close();
            }
        }
    };
}

collection!(Stealing, OURS, true);
collection!(Bound, BOUND, false);
