//! The time since a start, by clocks that may be wrong.
//!
//! Clocks are the user's: they may stand still, jump, or go back. A throttle must not starve then,
//! nor panic. So its time never goes back. If a clock goes back by little (processors whose
//! counters differ), the throttle waits for it. If it goes back by more, the time goes on as if the
//! clock had stood still for that step.

use super::Clock;
use sateen_base::prim::AtomicU64;
use sateen_base::prim::Ordering::{Acquire, Relaxed, Release};

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
/// Times guard no data, so accesses are relaxed where nothing else is said. The offset is read
/// before the clock: a caller that reads the old offset and the clock that went back sees the step,
/// and its exchange fails if another caller has corrected it.
///
/// A caller may have slept since it read the clock. Others have then put `latest` ahead of that
/// reading, and the clock went nowhere. So a caller that finds a step back reads the clock once
/// more, after `latest`.
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
            if let Some(passed) = self.now_slow(clock, passed, offset) {
                return passed;
            }
        }
    }

    /// `None` if the caller's reading is old, or another has corrected the time meanwhile.
    #[cold]
    fn now_slow(&self, clock: &impl Clock, passed: u64, offset: u64) -> Option<u64> {
        // Ordering: Acquire pairs with the Release below: a reading that is made after this is not
        // older than the one that `latest` comes from.
        let latest = self.latest.load(Acquire);
        let behind = |passed: u64| latest.wrapping_sub(passed);
        // Half of the numbers are ahead, half behind.
        if behind(passed) > u64::MAX / 2 {
            // Ordering: Release, see above.
            self.latest.fetch_max(passed, Release);
            return Some(passed);
        }
        if behind(passed) > BACK {
            let step = behind(clock.nanos().wrapping_add(offset));
            if step <= BACK || step > u64::MAX / 2 {
                return None;
            }
            let right = offset.wrapping_add(step);
            self.offset.compare_exchange(offset, right, Relaxed, Relaxed).ok()?;
        }
        Some(latest)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use sateen_base::prim::time::Duration;
    use std::cell::RefCell;

    const MS: u64 = 1_000_000;

    /// A clock that says what it is told, one after the other.
    struct Said(RefCell<Vec<u64>>);

    impl Clock for Said {
        fn elapsed(&self) -> Duration {
            Duration::from_millis(self.0.borrow_mut().remove(0))
        }

        fn delay(&self, _: Duration) {}
    }

    /// The times, in milliseconds, of as many calls as the clock has readings for.
    fn times(readings: &[u64]) -> Vec<u64> {
        let (time, clock) = (SharedTimeline::new(0), Said(RefCell::new(readings.to_vec())));
        let mut times = Vec::new();
        while !clock.0.borrow().is_empty() {
            times.push(time.now(&clock) / MS);
        }
        times
    }

    #[test]
    fn a_caller_that_slept_after_its_reading_moves_no_time() {
        // The reading 50 is old. So the caller reads again, twice.
        assert_eq!(times(&[100, 50, 101, 102, 120]), [100, 102, 120]);
    }

    #[test]
    fn a_clock_that_goes_back_stands_still_for_that_step() {
        assert_eq!(times(&[100, 50, 50, 60, 80]), [100, 100, 110, 130]);
        // By little: the time waits for it.
        assert_eq!(times(&[100, 95, 101]), [100, 100, 101]);
    }
}
