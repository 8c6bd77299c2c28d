//! Clocks for throttles: how long it has been, and how to wait.

use super::pause::pause;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicU64, Ordering};
use sateen_runtime::sleep;

/// Tells a throttle the time, and waits for it.
///
/// A clock belongs to the thread that reads it: it need not be shared. Its clones count from the
/// same start.
///
/// A throttle tolerates a wrong clock. If the clock goes back by less than 10 ms, the throttle's
/// time stands still until the clock has caught up; if by more, the time goes on from there. A
/// clock that jumps ahead looks like a caller that comes late.
///
/// # Panics
/// A panic of a clock goes on in the throttle's caller, which has taken nothing then.
///
/// # Examples
/// ```
/// use sateen::flow::{Clock, RealClock};
/// use std::time::Duration;
/// let clock = RealClock::new();
/// let before = clock.elapsed();
/// clock.delay(Duration::from_micros(5));
/// assert!(clock.elapsed() - before >= Duration::from_micros(5));
/// ```
pub trait Clock {
    /// Time since the clock was made. Should never decrease.
    fn elapsed(&self) -> Duration;

    /// Waits for about `interval`. Blocks a thread, suspends a fiber.
    fn delay(&self, interval: Duration);

    /// [`delay`](Clock::delay) that may be some 100 µs late, and costs the processor little.
    fn rest(&self, interval: Duration) {
        self.delay(interval);
    }

    /// [`elapsed`](Clock::elapsed) in nanoseconds, at most `u64::MAX`. This is what throttles call;
    /// override it if the clock counts nanoseconds.
    #[inline]
    fn nanos(&self) -> u64 {
        let elapsed = self.elapsed();
        let seconds = elapsed.as_secs().saturating_mul(1_000_000_000);
        seconds.saturating_add(elapsed.subsec_nanos().into())
    }

    /// Makes the next reading a true one: throttles call it before they wait.
    #[inline]
    fn refresh(&self) {}

    /// Whether [`delay`](Clock::delay) takes time. If it does, futures wait by the runtime's
    /// timers, and call it only for very short delays.
    fn takes_time(&self) -> bool {
        true
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    fn elapsed(&self) -> Duration {
        (**self).elapsed()
    }
    fn delay(&self, interval: Duration) {
        (**self).delay(interval);
    }
    fn rest(&self, interval: Duration) {
        (**self).rest(interval);
    }
    fn nanos(&self) -> u64 {
        (**self).nanos()
    }
    fn refresh(&self) {
        (**self).refresh();
    }
    fn takes_time(&self) -> bool {
        (**self).takes_time()
    }
}

/// The monotonic clock of the system, read at each call (about 40 ns here).
#[derive(Clone, Copy, Debug)]
pub struct RealClock(Instant);

impl RealClock {
    /// Counts from now on.
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Default for RealClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RealClock {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn delay(&self, interval: Duration) {
        pause(interval);
    }

    fn rest(&self, interval: Duration) {
        sleep(interval);
    }
}

/// A clock for tests: its time goes on when [`advance`](Self::advance) is called, and when a caller
/// waits. Nothing sleeps.
///
/// Its clones are the same clock.
///
/// ```
/// use sateen::flow::{Clock, ManualClock};
/// use std::time::Duration;
/// let clock = ManualClock::new();
/// clock.delay(Duration::from_secs(3600));
/// clock.advance(Duration::from_secs(1));
/// assert_eq!(clock.elapsed().as_secs(), 3601);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// At zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Advances the time; after 584 years it stands still.
    pub fn advance(&self, interval: Duration) {
        // 584 years at most.
        let nanos = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        let later = |now: u64| Some(now.saturating_add(nanos));
        // Relaxed: the time guards no data. It never refuses.
        _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later);
    }
}

impl Clock for ManualClock {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    fn delay(&self, interval: Duration) {
        self.advance(interval);
    }

    fn nanos(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn takes_time(&self) -> bool {
        false
    }
}
