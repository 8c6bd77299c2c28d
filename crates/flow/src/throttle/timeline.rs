//! The time since a start, by clocks that may be wrong.
//!
//! Clocks are the user's: they may stand still, jump, or go back. A throttle must not starve then,
//! nor panic. So its time never goes back. If a clock goes back by little (processors whose
//! counters differ), the throttle waits for it. If it goes back by more, the time goes on as if the
//! clock had stood still for that step.

use super::Clock;
use sateen_base::prim::{AtomicU64, Ordering::Relaxed};

/// If a clock goes back by up to this many nanoseconds, the throttle waits for it.
const BACK: u64 = 10_000_000;

/// The time of one owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeline {
    /// The last reading of the clock, and how much time had passed then.
    clock: u64,
    passed: u64,
}

impl Timeline {
    /// `passed` have passed when the clock says `now`.
    pub(super) fn new(now: u64, passed: u64) -> Self {
        Self { clock: now, passed }
    }

    /// How much time has passed when the clock says `now`.
    #[inline(always)]
    pub(super) fn at(&mut self, now: u64) -> u64 {
        if now < self.clock {
            self.back(now);
        } else {
            *self = Self::new(now, self.peek(now));
        }
        self.passed
    }

    /// As [`at`](Self::at), without changing anything.
    #[inline(always)]
    pub(super) fn peek(&self, now: u64) -> u64 {
        self.passed.saturating_add(now.saturating_sub(self.clock))
    }

    #[cold]
    fn back(&mut self, now: u64) {
        if self.clock - now > BACK {
            self.clock = now;
        }
    }
}

/// The time of many callers. All read the words, and seldom change them.
///
/// | word | meaning | changed by |
/// |---|---|---|
/// | `offset` | time passed, less the reading; wraps | up: a caller that saw the clock go back |
/// | `latest` | at least so much had passed | a caller whose time is later by `STEP` |
///
/// Times guard no data, so all accesses are relaxed. The offset is read before the clock: a caller
/// that reads the old offset and the clock that went back sees the step, and its exchange fails if
/// another caller has corrected it.
#[derive(Debug)]
pub(super) struct SharedTimeline {
    offset: AtomicU64,
    latest: AtomicU64,
}

impl SharedTimeline {
    /// How exact `latest` is: nanoseconds.
    const STEP: u64 = 20_000_000;

    /// The clock says `now` at the start.
    pub(super) fn new(now: u64) -> Self {
        Self { offset: AtomicU64::new(0u64.wrapping_sub(now)), latest: AtomicU64::new(0) }
    }

    /// How much time has passed.
    #[inline]
    pub(super) fn now(&self, clock: &impl Clock) -> u64 {
        loop {
            let offset = self.offset.load(Relaxed);
            let passed = clock.nanos().wrapping_add(offset);
            let latest = self.latest.load(Relaxed);
            if passed.wrapping_sub(latest) < Self::STEP {
                return passed;
            }
            if let Some(passed) = self.now_slow(passed, latest, offset) {
                return passed;
            }
        }
    }

    /// `None` if another caller has corrected the time meanwhile.
    #[cold]
    fn now_slow(&self, passed: u64, latest: u64, offset: u64) -> Option<u64> {
        let behind = latest.wrapping_sub(passed);
        // Half of the numbers are ahead, half behind.
        if behind > u64::MAX / 2 {
            self.latest.fetch_max(passed, Relaxed);
            return Some(passed);
        }
        if behind > BACK {
            let right = offset.wrapping_add(behind);
            self.offset.compare_exchange(offset, right, Relaxed, Relaxed).ok()?;
        }
        Some(latest)
    }
}
