//! What a worker queue has done so far.

use super::shared::Shared;
#[cfg(feature = "wait_times")]
use super::wait_times::WaitTimes;
use super::worker_metrics::WorkerMetrics;
use sateen_base::prim::Ordering::Relaxed;

/// Figures of a [`WorkerQueue`](super::WorkerQueue).
///
/// While others work, each figure is slightly older than the next. Once nothing moves, `sent =
/// received + in_queue + dropped + returned`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// Items that were accepted, including those that the overflow rule dropped.
    pub sent: u64,
    /// Items that are finished, including those whose handler panicked.
    pub received: u64,
    /// Items that wait, also for another try, and items that handlers work on.
    pub in_queue: u64,
    /// Items that the overflow rule dropped.
    pub dropped: u64,
    /// Items that [`abort`](super::WorkerQueue::abort) returned, or that became dead letters by it.
    pub returned: u64,
    /// Handler calls that panicked.
    pub panicked: u64,
    /// Handler calls that ended in [`Retry`](super::Retry).
    pub retried: u64,
    /// Handler calls that ended in the last second.
    pub rate: f64,
    /// Items in each queue.
    pub queues: Vec<usize>,
    /// Each worker.
    pub workers: Vec<WorkerStats>,
    /// How long items have waited, from being sent to their first handler call. Measured for each
    /// item sent while a worker is idle, and for one in 32 otherwise.
    #[cfg(feature = "wait_times")]
    pub waits: WaitTimes,
}

/// Figures of one worker.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Items that the worker has finished.
    pub received: u64,
    /// Those of them whose handler panicked.
    pub panicked: u64,
    /// Handler calls that ended in [`Retry`](super::Retry).
    pub retried: u64,
    /// Whether the worker is in a handler call.
    pub busy: bool,
    /// Handler calls that ended in the last second.
    pub rate: f64,
}

impl<T> Shared<T> {
    pub(crate) fn stats(&self) -> Stats {
        let workers: Vec<_> = self.metrics.iter().map(|metrics| worker_stats(metrics)).collect();
        let sum = |f: fn(&WorkerStats) -> u64| workers.iter().map(f).sum();
        let queues: Vec<_> = self.lanes.iter().map(|lane| lane.queue.len()).collect();
        Stats {
            // In this order: what leaves is counted before what comes in.
            received: sum(|worker| worker.received),
            panicked: sum(|worker| worker.panicked),
            retried: sum(|worker| worker.retried),
            in_queue: sum(|worker| worker.busy.into()) + self.in_queues() as u64,
            dropped: self.dropped.load(Relaxed),
            returned: self.returned.load(Relaxed),
            rate: workers.iter().map(|worker| worker.rate).sum(),
            sent: self.total_sent(),
            queues,
            workers,
            #[cfg(feature = "wait_times")]
            waits: WaitTimes::sum(self.metrics.iter().map(|metrics| &metrics.waits)),
        }
    }

    /// Items that no handler works on.
    pub(crate) fn in_queues(&self) -> usize {
        let lanes: usize = self.lanes.iter().map(|lane| lane.queue.len()).sum();
        lanes + self.crews.iter().map(|crew| crew.later.len()).sum::<usize>()
    }
}

fn worker_stats(metrics: &WorkerMetrics) -> WorkerStats {
    let (busy, retried) = (metrics.is_busy(), metrics.retried());
    WorkerStats {
        received: metrics.ended().saturating_sub(retried),
        panicked: metrics.panicked(),
        retried,
        busy,
        rate: metrics.last_second() as f64,
    }
}
