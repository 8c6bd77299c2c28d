//! How long items waited, from being sent to their first handler call.
//!
//! Each worker records in a histogram of its own, under a lock that only readers of the figures
//! compete for. Compiled with the feature `wait_times`.

use hdrhistogram::Histogram;
use sateen_base::SpinLock;
use sateen_base::prim::time::Duration;
use sateen_base::tsc;
use std::fmt;

/// Longest wait that is told from longer ones: an hour.
const LONGEST: u64 = 3_600_000_000_000;

/// For waits from a nanosecond to an hour, to one per cent.
fn empty_histogram() -> Option<Histogram<u64>> {
    Histogram::new_with_bounds(1, LONGEST, 2).ok()
}

/// What one worker records.
#[derive(Debug, Default)]
pub(crate) struct WaitRecorder(SpinLock<Option<Box<Histogram<u64>>>>);

impl WaitRecorder {
    /// An item has waited for this many ticks. Worker only.
    pub(crate) fn record(&self, ticks: u64) {
        let nanos = tsc::nanos(ticks).clamp(1, LONGEST);
        let mut waits = self.0.lock();
        if waits.is_none() {
            // Allocated outside the lock; only the worker does this.
            drop(waits);
            let fresh = empty_histogram().map(Box::new);
            waits = self.0.lock();
            *waits = fresh;
        }
        if let Some(waits) = &mut *waits {
            waits.saturating_record(nanos);
        }
    }
}

/// A distribution of times, exact to one per cent.
#[derive(Clone)]
pub struct WaitTimes(Option<Histogram<u64>>);

impl WaitTimes {
    /// What all `recorders` have recorded.
    pub(super) fn sum<'a>(recorders: impl Iterator<Item = &'a WaitRecorder>) -> Self {
        let mut all = empty_histogram();
        if let Some(all) = &mut all {
            // All have the same bounds.
            recorders.filter_map(|one| one.0.lock().clone()).for_each(|one| _ = all.add(&*one));
        }
        Self(all)
    }

    /// How many waits were measured.
    pub fn count(&self) -> u64 {
        self.0.as_ref().map_or(0, Histogram::len)
    }

    /// The time that `percent` of the items have waited at most: 50 gives the median. 0 if none was
    /// measured.
    pub fn percentile(&self, percent: f64) -> Duration {
        self.read(|times| times.value_at_percentile(percent))
    }

    /// The longest wait.
    pub fn max(&self) -> Duration {
        self.read(Histogram::max)
    }

    fn read(&self, f: impl FnOnce(&Histogram<u64>) -> u64) -> Duration {
        match &self.0 {
            Some(times) if !times.is_empty() => Duration::from_nanos(f(times)),
            _ => Duration::ZERO,
        }
    }
}

impl fmt::Debug for WaitTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitTimes")
            .field("count", &self.count())
            .field("median", &self.percentile(50.0))
            .field("p99", &self.percentile(99.0))
            .field("max", &self.max())
            .finish()
    }
}
