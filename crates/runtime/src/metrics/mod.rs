//! Metrics of a runtime: counts, times and queue lengths.

mod ready_times;
mod times;

pub(crate) use ready_times::ReadyTable;
pub use ready_times::ReadyTimes;
pub(crate) use times::{Doing, Times};

use crate::context;
use crate::shared::Shared;
use crate::trace;
use crate::worker::Worker;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicU64, Ordering};
use std::collections::HashMap;

/// Makes [`WorkerMetrics`] and [`Counters`] from the one list of what a worker counts.
macro_rules! worker_metrics {
    (
        counts { $($(#[doc = $about:literal])* $count:ident,)* }
        others { $($(#[$doc:meta])* $name:ident: $kind:ty = $read:expr,)* }
    ) => {
        /// What a worker or a whole runtime has done so far, and what is waiting there now.
        ///
        /// Fields of type `u64` and times never decrease. Plain calls of private branches are not
        /// counted: they cost about a nanosecond, and counting would take a good part of that.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct WorkerMetrics {
            $($(#[doc = $about])* pub $count: u64,)*
            $($(#[$doc])* pub $name: $kind,)*
        }

        /// One worker's counters. Only that worker writes them, so counting takes no locked
        /// instruction. Any thread reads them. They order nothing.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $count: Counter,)*
        }

        impl WorkerMetrics {
            /// All counts, which are the fields of type `u64`: the name, the text of its
            /// documentation, and the value of each. A monitoring system that takes them from here
            /// has those of later versions, too.
            ///
            /// ```
            /// let runtime = sateen::Runtime::builder().workers(1).build()?;
            /// runtime.spawn(|| ()).join().unwrap();
            /// for (name, about, count) in runtime.metrics().total().counts() {
            ///     println!("{name:>20} {count:>10}  {about}");
            /// }
            /// # Ok::<(), sateen::BuildError>(())
            /// ```
            pub fn counts(
                &self,
            ) -> impl Iterator<Item = (&'static str, &'static str, u64)> + use<> {
                let all = [$((stringify!($count), concat!($($about),*), self.$count),)*];
                all.into_iter().map(|(name, about, count)| (name, about.trim_start(), count))
            }

            /// The counts, and nothing else.
            pub(crate) fn counted(counters: &Counters) -> Self {
                Self { $($count: counters.$count.get(),)* ..Self::default() }
            }

            fn of(worker: &Worker) -> Self {
                Self { $($name: $read(worker),)* ..Self::counted(&worker.counters) }
            }
        }

        impl std::ops::AddAssign for WorkerMetrics {
            fn add_assign(&mut self, other: Self) {
                $(self.$count += other.$count;)*
                $(self.$name += other.$name;)*
            }
        }
    };
}

worker_metrics! {
    counts {
        /// What it took from its queues, from outside or from other workers, and ran: tasks, polls
        /// of futures, scoped spawns, stolen branches.
        taken,
        /// Tasks and futures that started here. (A future may continue and end on other workers.)
        started,
        /// Tasks and futures that ended here after they had started, normally or not.
        ended,
        /// Branches stolen from another worker's join stack.
        branches_stolen,
        /// Thefts of tasks from another worker's run queue, which may take several at once.
        thefts,
        /// How often a task was suspended.
        suspensions,
        /// How often a suspended task was resumed.
        resumptions,
        /// Suspended tasks and waiting futures that this worker made ready.
        tasks_woken,
        /// Sleeping workers that this worker woke.
        workers_woken,
        /// How often it slept in the kernel for lack of work.
        parks,
        /// How often it was woken on the core of another worker and moved to a free one. Only
        /// virtual machines need that.
        moves,
        /// Rounds of search over all other workers.
        search_rounds,
        /// Requests answered: how often private branches were made public because a thief asked.
        publications,
        /// How often this worker made another's branches public by a heavy fence.
        forced_publications,
        /// Spawns refused because there was no stack and nothing else could run.
        out_of_stacks,
        /// How often it reported on its fibers.
        surveys,
    }
    others {
        /// How long it worked.
        busy: Duration = |worker: &Worker| worker.times.of(Doing::Work),
        /// How long it searched elsewhere for work, awake.
        idle: Duration = |worker: &Worker| worker.times.of(Doing::Search),
        /// How long its thread slept, for lack of work or in a wait that keeps the thread.
        asleep: Duration = |worker: &Worker| worker.times.of(Doing::Sleep),
        /// Entries of its run queue that have not started. A task that its joiner has run in place
        /// counts until the worker removes its entry.
        queued: usize = |worker: &Worker| worker.policy_view.len(),
        /// Entries that only this worker may start.
        pinned: usize = Worker::pinned_len,
        /// Its suspended tasks that are ready to resume.
        ready: usize = Worker::ready_len,
        /// Its suspended tasks that still wait.
        suspended: usize = Worker::suspended_len,
        /// Stacks in use by its tasks, and those that it keeps for later tasks.
        stacks: usize = |worker: &Worker| worker.stacks().0,
        /// The most stacks at once so far; for a whole runtime the sum over the workers.
        most_stacks: usize = |worker: &Worker| worker.stacks().1,
        /// Timers armed here.
        timers: usize = |worker: &Worker| worker.timers.len(),
    }
}

/// A snapshot from [`Runtime::metrics`](crate::Runtime::metrics). Its parts are read one after
/// another, so they are consistent only when the runtime is idle.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// Metrics of each worker, by index. Substitutes that have run follow
    /// ([`Builder::substitutes`](crate::Builder::substitutes)).
    pub workers: Vec<WorkerMetrics>,
    /// Workers that now sleep in the kernel.
    pub sleeping: usize,
    /// Workers that now search for work.
    pub searching: usize,
    /// Current threads for [`blocking`](crate::blocking()) calls.
    pub blocking_threads: usize,
    /// Work that any worker may take: spawned from outside, or in a shared queue.
    pub queued: usize,
    /// Work for which no worker had a stack.
    pub without_stack: usize,
    /// Spawned futures that have not ended.
    pub futures: u64,
    /// Sleeping workers woken by threads that are not workers.
    pub woken_from_outside: u64,
    /// How long [named](crate::Spawn::name) tasks were ready but did not run, sorted by name.
    pub ready_times: Vec<ReadyTimes>,
}

impl Metrics {
    pub(crate) fn of(shared: &Shared) -> Self {
        let mut times = HashMap::new();
        shared.workers.iter().for_each(|worker| worker.ready_times.add_to(&mut times));
        let mut ready_times: Vec<ReadyTimes> = times.into_values().collect();
        ready_times.sort_by(|a, b| a.name.cmp(&b.name));
        let common = shared.workers.iter().next().map_or(0, |first| first.policy_view.shared_len());
        Self {
            workers: shared.workers.iter().map(|worker| WorkerMetrics::of(worker)).collect(),
            sleeping: shared.sleep.sleepers(),
            searching: shared.sleep.searching(),
            blocking_threads: shared.blocking.threads(),
            queued: shared.injector.len() + common,
            without_stack: shared.aside.count(),
            futures: shared.futures.count(),
            woken_from_outside: shared.sleep.woken_from_outside(),
            ready_times,
        }
    }

    /// The sum over all workers.
    pub fn total(&self) -> WorkerMetrics {
        let mut sum = WorkerMetrics::default();
        for worker in &self.workers {
            sum += *worker;
        }
        sum
    }
}

/// Records that the calling thread has woken sleeping worker `index`. Returns false if the calling
/// thread is not a worker, and so has no counter.
pub(crate) fn count_worker_woken(index: usize) -> bool {
    let Some(owner) = context::thread_owner() else { return false };
    owner.counters.workers_woken.bump();
    trace::worker_woken(owner, index);
    true
}

/// Records that the calling thread has made a task ready.
#[inline]
pub(crate) fn count_task_woken() {
    if let Some(owner) = context::thread_owner() {
        owner.counters.tasks_woken.bump();
    }
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
