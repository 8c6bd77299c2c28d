//! What each worker counts, and the sums.

use crate::shared::Shared;
use sateen_base::prim::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// One worker's counters. Only that worker writes them, and any thread reads them.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }

        /// What a worker, or a whole runtime, has done so far. Plain calls of private branches are
        /// not counted: they cost about a nanosecond, and counting would cost a good part of that.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct WorkerStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            pub(crate) fn read(&self) -> WorkerStats {
                WorkerStats { $($name: self.$name.get(),)* }
            }
        }

        impl std::ops::AddAssign for WorkerStats {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

counters! {
    /// Tasks and stolen branches run from a queue or another worker.
    tasks,
    /// Branches stolen from another worker's join stack.
    join_steals,
    /// Tasks stolen from another worker's run queue.
    task_steals,
    /// Rounds over all other workers in search of work.
    search_rounds,
    /// Requests answered: how often private branches were made public because a thief asked.
    publications,
    /// How often this worker made another's branches public by a heavy fence.
    forced_publications,
    /// How often it slept in the kernel.
    parks,
    /// How often a task was suspended.
    suspensions,
    /// Spawns refused because no stack could be had and nothing else could run.
    out_of_stacks,
    /// How often it was asked about its fibers, for a report.
    surveys,
}

/// A counter with a single writer, so without a locked instruction.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one. Owner only.
    #[inline]
    pub(crate) fn bump(&self) {
        // Ordering: Relaxed; one writer, and readers want a recent number, no more.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A snapshot of [`Runtime::stats`](crate::Runtime::stats). The parts are read one after another,
/// so they fit together only when the runtime is idle.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// Each worker's share, by index; after them, those of the substitutes that have worked
    /// ([`Builder::substitutes`](crate::Builder::substitutes)).
    pub workers: Vec<WorkerStats>,
    /// How many workers sleep in the kernel at present.
    pub sleeping: usize,
    /// How many workers search for work at present.
    pub searching: usize,
    /// How many threads there are at present for [`blocking`](crate::blocking()) calls.
    pub blocking_threads: usize,
}

impl Stats {
    pub(crate) fn of(shared: &Shared) -> Self {
        Self {
            workers: shared.workers.iter().map(|w| w.counters.read()).collect(),
            sleeping: shared.sleep.sleepers(),
            searching: shared.sleep.searching(),
            blocking_threads: shared.blocking.threads(),
        }
    }

    /// All workers together.
    pub fn total(&self) -> WorkerStats {
        let mut sum = WorkerStats::default();
        for worker in &self.workers {
            sum += *worker;
        }
        sum
    }
}
