//! What each worker counts.
//!
//! A worker's counters have one writer, its own thread, so counting takes no locked instruction.
//! Any thread reads them. They order nothing.

use sateen_base::prim::{AtomicU64, Ordering};

macro_rules! counters {
    ($($name:ident),* $(,)?) => {
        /// One worker's counters. Only that worker writes them, and any thread reads them.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }
    };
}

// What each means: `WorkerMetrics`.
counters! {
    taken,
    started,
    ended,
    branches_stolen,
    thefts,
    suspensions,
    resumptions,
    tasks_woken,
    workers_woken,
    parks,
    moves,
    search_rounds,
    publications,
    forced_publications,
    out_of_stacks,
    surveys,
}

/// A counter with a single writer.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one. Owner only.
    #[inline(always)]
    pub(crate) fn bump(&self) {
        // Ordering: Relaxed; one writer, and readers want a recent number, no more.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
