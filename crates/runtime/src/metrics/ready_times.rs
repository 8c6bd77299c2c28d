//! How long named tasks were ready but did not run.
//!
//! The time at which a task becomes ready is stored in its frame, or in its fiber. When the task
//! runs, its worker adds the elapsed time to the worker's own table, under a short lock that only
//! readers contend for. Unnamed tasks pay nothing.

use sateen_base::SpinLock;
use sateen_base::prim::time::Duration;
use sateen_base::tsc;
use std::collections::HashMap;
use std::sync::Arc;

/// Names for which a worker keeps separate times; all others share one entry.
const NAMES: usize = 256;
/// The name of the shared entry.
const OTHERS: &str = "(other names)";

/// How long the tasks of one name were ready but did not run: from spawn to start, and from each
/// wake-up to the resumption.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadyTimes {
    /// The name. After 256 names a worker counts all others as `(other names)`.
    pub name: Arc<str>,
    /// Number of starts and resumptions.
    pub count: u64,
    /// The sum of the times.
    pub sum: Duration,
    /// The longest.
    pub max: Duration,
    /// Times below 1, 2, 4, 8, … nanoseconds, each not below the previous bound.
    counts: [u64; Self::BUCKETS],
}

impl ReadyTimes {
    /// 2^39 ns are 9 minutes.
    const BUCKETS: usize = 40;

    fn new(name: Arc<str>) -> Self {
        let (sum, max) = (Duration::ZERO, Duration::ZERO);
        Self { name, count: 0, sum, max, counts: [0; Self::BUCKETS] }
    }

    fn add(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let bucket = (u64::BITS - nanos.leading_zeros()) as usize;
        self.counts[bucket.min(Self::BUCKETS - 1)] += 1;
        self.count += 1;
        self.sum += time;
        self.max = self.max.max(time);
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        self.counts.iter_mut().zip(other.counts).for_each(|(count, other)| *count += other);
    }

    /// The histogram: upper bounds, each with the number of times below it and not below the
    /// previous bound. The last bound also counts everything longer.
    ///
    /// ```
    /// use sateen::{Runtime, Spawn};
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// runtime.spawn_with(Spawn::new().name("parse"), || ()).join().unwrap();
    /// let metrics = runtime.metrics();
    /// let parse = &metrics.ready_times[0];
    /// assert_eq!((&*parse.name, parse.count), ("parse", 1));
    /// assert_eq!(parse.buckets().map(|(_, count)| count).sum::<u64>(), 1);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        let bound = |bucket: usize| Duration::from_nanos(1 << bucket);
        self.counts.into_iter().enumerate().map(move |(bucket, count)| (bound(bucket), count))
    }
}

/// One worker's times, by name.
#[derive(Default)]
pub(crate) struct ReadyTable(SpinLock<HashMap<Arc<str>, ReadyTimes>>);

impl ReadyTable {
    /// Records that a task of this name runs now and was ready since `since`, in ticks.
    #[cold]
    pub(crate) fn add(&self, name: &Arc<str>, since: u64) {
        let time = Duration::from_nanos(tsc::nanos(tsc::now().saturating_sub(since)));
        let mut table = self.0.lock();
        if let Some(times) = table.get_mut(&**name) {
            return times.add(time);
        }
        let name = if table.len() < NAMES { Arc::clone(name) } else { Arc::from(OTHERS) };
        let fresh = || ReadyTimes::new(Arc::clone(&name));
        table.entry(Arc::clone(&name)).or_insert_with(fresh).add(time);
    }

    /// Adds the times to `sum`.
    pub(crate) fn add_to(&self, sum: &mut HashMap<Arc<str>, ReadyTimes>) {
        // Outside of the lock, because `sum` grows.
        let times: Vec<ReadyTimes> = self.0.lock().values().cloned().collect();
        for times in times {
            let fresh = || ReadyTimes::new(Arc::clone(&times.name));
            sum.entry(Arc::clone(&times.name)).or_insert_with(fresh).merge(&times);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn times_go_where_they_belong() {
        let mut times = ReadyTimes::new(Arc::from("a"));
        for nanos in [0, 1, 2, 3, 4, 1023, 1024, u64::MAX] {
            times.add(Duration::from_nanos(nanos));
        }
        let counts: Vec<u64> = times.buckets().map(|(_, count)| count).collect();
        assert_eq!(&counts[..4], [1, 1, 2, 1]);
        assert_eq!((counts[10], counts[11], counts[39]), (1, 1, 1));
        assert_eq!((times.count, times.max), (8, Duration::from_nanos(u64::MAX)));
        let all_within = |(bound, _): (Duration, u64)| bound <= Duration::from_nanos(1 << 39);
        assert!(times.buckets().all(all_within));
    }

    #[test]
    fn names_beyond_the_limit_are_kept_together() {
        let table = ReadyTable::default();
        for i in 0..NAMES + 10 {
            table.add(&Arc::from(format!("task {i}")), tsc::now());
        }
        let mut sum = HashMap::new();
        table.add_to(&mut sum);
        table.add_to(&mut sum);
        assert_eq!(sum.len(), NAMES + 1);
        assert_eq!(sum[OTHERS].count, 20);
        assert_eq!(sum["task 0"].count, 2);
    }
}
