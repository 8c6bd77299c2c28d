//! What is known of the program, over time.

use super::protocol::{Frame, Queue, Report, Runtime, Worker};
use sateen_top::foreign::Foreign;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// How many looks back a share of time, or a rate, is taken.
const SMOOTHED: usize = 5;
/// How many shares are kept for the picture of a worker.
const REMEMBERED: usize = 120;
/// A task that waits for as long makes a report worth its cost.
const LONG: u64 = 1_000_000_000;

/// The last looks, and what was said besides.
#[derive(Debug, Default)]
pub(super) struct Seen {
    frames: VecDeque<Frame>,
    shares: HashMap<(u64, u64), VecDeque<f64>>,
    pub(super) report: Option<Report>,
}

impl Seen {
    /// Adds a look.
    pub(super) fn add(&mut self, frame: Frame) {
        self.frames.push_back(frame);
        while self.frames.len() > SMOOTHED + 1 {
            self.frames.pop_front();
        }
        let mut shares = std::mem::take(&mut self.shares);
        let Some(now) = self.frames.back() else { return };
        let before = self.frames.len().checked_sub(2).map(|at| &self.frames[at]);
        let mut kept = HashMap::new();
        for (number, worker) in each_worker(now) {
            let key = (number, worker.index);
            let mut row = shares.remove(&key).unwrap_or_default();
            let earlier = before.and_then(|it| worker_of(it, key));
            row.extend(earlier.and_then(|earlier| share(earlier, worker)));
            while row.len() > REMEMBERED {
                row.pop_front();
            }
            kept.insert(key, row);
        }
        self.shares = kept;
    }

    /// The last look.
    pub(super) fn last(&self) -> Option<&Frame> {
        self.frames.back()
    }

    /// What share of the last second or so a worker was busy, from 0 to 1.
    pub(super) fn busy(&self, runtime: u64, worker: &Worker) -> Option<f64> {
        share(worker_of(self.frames.front()?, (runtime, worker.index))?, worker)
    }

    /// The shares of the time between any two looks, the oldest first.
    pub(super) fn shares(&self, runtime: u64, worker: u64) -> impl Iterator<Item = f64> {
        self.shares.get(&(runtime, worker)).into_iter().flatten().copied()
    }

    /// How many items a second came into a worker queue, and were handled.
    pub(super) fn rates(&self, queue: &Queue) -> (Option<f64>, Option<f64>) {
        let rates = || {
            let queues = self.frames.front()?.queues.as_ref()?;
            let earlier = queues.iter().find(|it| it.number == queue.number)?;
            let came = earlier.sent.zip(queue.sent).and_then(|(from, to)| self.rate(from, to));
            Some((came, self.rate(earlier.handled, queue.handled)))
        };
        rates().unwrap_or_default()
    }

    /// How much more a second `to` is, now, than `from` was in the first look.
    fn rate(&self, from: u64, to: u64) -> Option<f64> {
        let (first, last) = (self.frames.front()?, self.frames.back()?);
        let seconds = last.time_ns.checked_sub(first.time_ns)? as f64 / 1e9;
        (seconds > 0.0).then(|| to.saturating_sub(from) as f64 / seconds)
    }

    /// The counts of a runtime's workers, all workers together: name, sum, and growth a second.
    pub(super) fn counts<'a>(
        &'a self,
        runtime: &'a Runtime,
    ) -> impl Iterator<Item = (&'a Foreign, u64, Option<f64>)> {
        let runtimes = self.frames.front().and_then(|first| first.runtimes.as_ref());
        let earlier = runtimes.and_then(|all| all.iter().find(|it| it.number == runtime.number));
        let earlier = earlier.map(sums).unwrap_or_default();
        sums(runtime).into_iter().map(move |(name, sum)| {
            let rate = earlier.get(name).and_then(|&from| self.rate(from, sum));
            (name, sum, rate)
        })
    }

    /// Whether something waits for so long that a report may say why.
    pub(super) fn wants_report(&self) -> bool {
        let Some(frame) = self.last() else { return false };
        let runtimes = frame.runtimes.iter().flatten();
        runtimes.flat_map(|it| &it.waits).any(|wait| wait.work.for_ns >= LONG)
    }

    /// The holder of what lies at this address, by the last report.
    pub(super) fn holder(&self, runtime: u64, address: &Foreign) -> Option<&str> {
        let told = self.report.as_ref()?.runtimes.iter().find(|told| told.number == runtime)?;
        let held = told.held.iter().find(|held| held.address == *address)?;
        Some(held.by.plain())
    }
}

fn each_worker(frame: &Frame) -> impl Iterator<Item = (u64, &Worker)> {
    let runtimes = frame.runtimes.iter().flatten();
    runtimes.flat_map(|it: &Runtime| it.workers.iter().map(|worker| (it.number, worker)))
}

fn worker_of(frame: &Frame, (number, index): (u64, u64)) -> Option<&Worker> {
    let runtime = frame.runtimes.as_ref()?.iter().find(|it| it.number == number)?;
    runtime.workers.iter().find(|worker| worker.index == index)
}

fn sums(runtime: &Runtime) -> BTreeMap<&Foreign, u64> {
    let mut sums = BTreeMap::<_, u64>::new();
    for (name, count) in runtime.workers.iter().flat_map(|worker| &worker.counts) {
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(*count);
    }
    sums
}

/// The share of the time in between that the worker was busy.
fn share(before: &Worker, now: &Worker) -> Option<f64> {
    let spent = |from: u64, to: u64| to.saturating_sub(from) as f64;
    let busy = spent(before.busy_ns, now.busy_ns);
    let rest = spent(before.idle_ns, now.idle_ns) + spent(before.asleep_ns, now.asleep_ns);
    (busy + rest > 0.0).then(|| busy / (busy + rest))
}
