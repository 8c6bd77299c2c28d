//! The time since a start, by clocks that may be wrong.
//!
//! Clocks are the user's: they may stand still, jump, or go back. A throttle must not starve then, nor panic. So its time never
//! goes back. A clock that goes back by little (processors whose counters differ) is waited for. From one that goes
//! back by more, the time goes on as if it had stood still for that step.

use super::Clock;
use sateen_base::prim::{AtomicU64, Ordering::Relaxed};

/// A clock that goes back by less is waited for: nanoseconds.
const BACK: u64 = 10_000_000;

/// Of one owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeline {
    /// What the clock said last, and how much time had passed then.
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

    /// The same, for who may not change it.
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

/// Of many. The words are looked at by all, and seldom changed.
///
/// | word | meaning | changed by |
/// |---|---|---|
/// | `offset` | the time that has passed, less what the clock says; wraps around | who finds that the clock went back: up |
/// | `latest` | so much had passed at some moment, at least | who reads a time that is later by [`STEP`](SharedTimeline::STEP) |
///
/// Times guard no data, so all accesses are relaxed. The offset is read before the clock: who reads the old one and the clock that
/// went back sees the step, and its exchange fails if another has dealt with it.
#[derive(Debug)]
pub(super) struct SharedTimeline {
    offset: AtomicU64,
    latest: AtomicU64,
}

impl SharedTimeline {
    /// So exact is `latest`: nanoseconds.
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

    /// None: another has put the time right meanwhile.
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
