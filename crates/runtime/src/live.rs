//! How many spawned futures have not ended: a runtime that closes waits for them.
//!
//! A counter a worker, which only that worker writes, and one for all other threads. Each for itself
//! says nothing, for a future may end elsewhere than it began; their sum is exact whenever nobody works,
//! which is when it is asked (`drain.rs`).

use sateen_base::CachePadded;
use sateen_base::prim::{AtomicU64, Ordering};

pub(crate) struct LiveCount {
    workers: Box<[CachePadded<AtomicU64>]>,
    outside: AtomicU64,
}

impl LiveCount {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            workers: (0..workers).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            outside: AtomicU64::new(0),
        }
    }

    /// One more. `worker`: the calling thread's index, if it is a worker.
    pub(crate) fn begin(&self, worker: Option<usize>) {
        self.add(worker, 1);
    }

    /// One less.
    pub(crate) fn end(&self, worker: Option<usize>) {
        self.add(worker, u64::MAX);
    }

    fn add(&self, worker: Option<usize>, number: u64) {
        // Ordering: Relaxed; whoever sums has synchronised with all workers through the drain word, and
        // with other threads through the queues and the gate.
        match worker {
            Some(index) => {
                let own = &self.workers[index];
                own.store(own.load(Ordering::Relaxed).wrapping_add(number), Ordering::Relaxed);
            }
            None => _ = self.outside.fetch_add(number, Ordering::Relaxed),
        }
    }

    /// How many: exact if no worker works, and near the truth otherwise.
    pub(crate) fn count(&self) -> u64 {
        // Ordering: Relaxed, see `add`.
        let outside = self.outside.load(Ordering::Relaxed);
        let sum = self.workers.iter().map(|own| own.load(Ordering::Relaxed));
        let sum = sum.fold(outside, u64::wrapping_add);
        // A sum taken in between may miss beginnings and find their ends.
        if (sum as i64) < 0 { 0 } else { sum }
    }
}
