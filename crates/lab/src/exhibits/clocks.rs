//! Clocks for throttles: cheaper readings of the real one.

use sateen_base::tsc;
use sateen_flow::{Clock, RealClock};
use std::cell::Cell;
use std::time::Duration;

/// A clock that reads another one at every *k*-th call, and stands still for the calls between.
///
/// Between two readings it is late, never early; so a throttle keeps its rate. When a throttle has
/// to wait, it reads again. Source: the clock of *Even more performance experiments: queues and
/// threads*.
#[derive(Clone, Debug)]
pub(crate) struct SampledClock<C = RealClock> {
    below: C,
    every: u32,
    /// Calls before the next reading.
    left: Cell<u32>,
    last: Cell<u64>,
}

impl SampledClock {
    /// [`RealClock`], read at every `every`-th call; 0 reads at each one.
    pub(crate) fn new(every: u32) -> Self {
        Self::over(RealClock::new(), every)
    }
}

impl<C: Clock> SampledClock<C> {
    fn over(below: C, every: u32) -> Self {
        Self { below, every: every.max(1), left: Cell::new(0), last: Cell::new(0) }
    }

    #[inline(never)]
    fn read(&self) -> u64 {
        let now = self.below.nanos();
        self.left.set(self.every - 1);
        self.last.set(now);
        now
    }
}

impl<C: Clock> Clock for SampledClock<C> {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    fn delay(&self, interval: Duration) {
        self.below.delay(interval);
    }

    fn rest(&self, interval: Duration) {
        self.below.rest(interval);
    }

    #[inline]
    fn nanos(&self) -> u64 {
        match self.left.get() {
            0 => self.read(),
            left => {
                self.left.set(left - 1);
                self.last.get()
            }
        }
    }

    #[inline]
    fn refresh(&self) {
        self.below.refresh();
        self.left.set(0);
    }

    fn takes_time(&self) -> bool {
        self.below.takes_time()
    }
}

/// The processor's time-stamp counter: half the cost of [`RealClock`], and as accurate as its
/// calibration (about one part in ten thousand).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TscClock {
    start: u64,
    /// Nanoseconds a tick, times 2 to the power of 32.
    scaled: u64,
    /// It waits.
    real: RealClock,
}

impl TscClock {
    /// Counts from now on; `None` if the processor has no counter, or one whose speed changes.
    ///
    /// The first call in a process takes 2 ms, to calibrate.
    pub(crate) fn new() -> Option<Self> {
        if !tsc::is_invariant() {
            return None;
        }
        // Ten seconds' worth, so that rounding to whole nanoseconds does not show.
        const TICKS: u64 = 1 << 35;
        let scaled = (tsc::nanos(TICKS) as f64 / TICKS as f64 * (1u64 << 32) as f64) as u64;
        Some(Self { start: tsc::now(), scaled, real: RealClock::new() })
    }
}

impl Clock for TscClock {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    fn delay(&self, interval: Duration) {
        self.real.delay(interval);
    }

    fn rest(&self, interval: Duration) {
        self.real.rest(interval);
    }

    #[inline]
    fn nanos(&self) -> u64 {
        let ticks = tsc::now().saturating_sub(self.start);
        ((u128::from(ticks) * u128::from(self.scaled)) >> 32) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sateen_flow::{ManualClock, Rate, Throttle};

    #[test]
    fn a_sampled_clock_keeps_the_rate() {
        let time = ManualClock::new();
        let rate = Rate::per_second(1e6).expect("a rate");
        let throttle = Throttle::new(rate, SampledClock::over(time.clone(), 8));
        let mut throttle = throttle.batch(1).expect("a batch");
        for _ in 0..=100_000 {
            throttle.wait();
            time.advance(Duration::from_nanos(300));
        }
        let took = time.elapsed().as_secs_f64();
        assert!((0.1..0.1001).contains(&took), "{took}");
    }

    #[test]
    fn the_counter_tells_the_time() {
        let real = RealClock::new();
        if let Some(tsc) = TscClock::new() {
            let (before, read, after) = (real.elapsed(), tsc.elapsed(), real.elapsed());
            assert!(read.as_secs_f64() <= after.as_secs_f64() * 1.01, "{before:?} {read:?}");
        }
    }
}
