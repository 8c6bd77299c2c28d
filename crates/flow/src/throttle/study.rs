//! Clocks that exist to be compared: cheaper readings of the real one.

use super::pause::pause;
use super::{Clock, RealClock, ThrottleError};
use sateen_base::prim::time::Duration;
use sateen_base::tsc;
use sateen_runtime::sleep;
use std::cell::Cell;

/// A clock that reads another one at every *k*-th call, and stands still for the calls between.
///
/// Between two readings it is late, never early; so a throttle keeps its rate. When a throttle has
/// to wait, it reads again. Source: the clock of *Even more performance experiments: queues and
/// threads*.
///
/// # Examples
/// ```
/// use sateen::flow::{Clock, ManualClock, SampledClock, ThrottleError};
/// use std::time::Duration;
/// let time = ManualClock::new();
/// let clock = SampledClock::over(time.clone(), 3)?;
/// assert_eq!(clock.elapsed(), Duration::ZERO);
/// time.advance(Duration::from_secs(1));
/// let read: Vec<_> = (0..3).map(|_| clock.elapsed().as_secs()).collect();
/// assert_eq!(read, [0, 0, 1]);
/// # Ok::<(), ThrottleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SampledClock<C = RealClock> {
    below: C,
    every: u32,
    /// Calls before the next reading.
    left: Cell<u32>,
    last: Cell<u64>,
}

impl SampledClock {
    /// [`RealClock`], read at every `every`-th call.
    ///
    /// # Errors
    /// [`ThrottleError::ZeroSampling`] if `every` is 0.
    pub fn new(every: u32) -> Result<Self, ThrottleError> {
        Self::over(RealClock::new(), every)
    }
}

impl<C: Clock> SampledClock<C> {
    /// Another clock, read at every `every`-th call.
    ///
    /// # Errors
    /// [`ThrottleError::ZeroSampling`] if `every` is 0.
    pub fn over(below: C, every: u32) -> Result<Self, ThrottleError> {
        if every == 0 {
            return Err(ThrottleError::ZeroSampling);
        }
        Ok(Self { below, every, left: Cell::new(0), last: Cell::new(0) })
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
///
/// ```
/// use sateen::flow::{Clock, TscClock};
/// if let Some(clock) = TscClock::new() {
///     assert!(clock.elapsed() <= clock.elapsed());
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TscClock {
    start: u64,
    /// Nanoseconds a tick, times 2 to the power of 32.
    scaled: u64,
}

impl TscClock {
    /// Counts from now on; `None` if the processor has no counter, or one whose speed changes.
    ///
    /// The first call in a process takes 2 ms, to calibrate.
    pub fn new() -> Option<Self> {
        if !tsc::is_invariant() {
            return None;
        }
        // Ten seconds' worth, so that rounding to whole nanoseconds does not show.
        const TICKS: u64 = 1 << 35;
        let scaled = (tsc::nanos(TICKS) as f64 / TICKS as f64 * (1u64 << 32) as f64) as u64;
        Some(Self { start: tsc::now(), scaled })
    }
}

impl Clock for TscClock {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    fn delay(&self, interval: Duration) {
        pause(interval);
    }

    fn rest(&self, interval: Duration) {
        sleep(interval);
    }

    #[inline]
    fn nanos(&self) -> u64 {
        let ticks = tsc::now().saturating_sub(self.start);
        ((u128::from(ticks) * u128::from(self.scaled)) >> 32) as u64
    }
}
