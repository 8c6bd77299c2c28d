//! Clocks for throttles: how long it has been, and how to wait.

use super::ThrottleError;
use super::pause::pause;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicU64, Ordering};
use sateen_base::tsc;
use sateen_runtime::sleep;
use std::cell::Cell;

/// Tells a throttle the time, and waits for it.
///
/// A clock belongs to whoever reads it: it need not be shared between threads. Its clones count from the
/// same start.
///
/// A throttle copes with a clock that is wrong. If it goes back by less than 10 ms the throttle's time stands still until the
/// clock has caught up; if by more, the time goes on from there. If it jumps ahead, that is a caller who comes late. A panic of a
/// clock goes on in the caller of the throttle, which has taken nothing then.
///
/// ```
/// use sateen::flow::{Clock, RealClock};
/// use std::time::Duration;
/// let clock = RealClock::new();
/// let before = clock.elapsed();
/// clock.delay(Duration::from_micros(5));
/// assert!(clock.elapsed() - before >= Duration::from_micros(5));
/// ```
pub trait Clock {
    /// Time since the clock was made; should never be less than it was before.
    fn elapsed(&self) -> Duration;

    /// Waits for about `interval`. Blocks a thread, suspends a fiber.
    fn delay(&self, interval: Duration);

    /// [`delay`](Clock::delay) that may be some 100 µs late, and costs the processor little.
    fn rest(&self, interval: Duration) {
        self.delay(interval);
    }

    /// [`elapsed`](Clock::elapsed) in nanoseconds, `u64::MAX` if there are more. For clocks that know them anyway: it is
    /// what throttles call.
    #[inline]
    fn nanos(&self) -> u64 {
        let elapsed = self.elapsed();
        let seconds = elapsed.as_secs().saturating_mul(1_000_000_000);
        seconds.saturating_add(elapsed.subsec_nanos().into())
    }

    /// The next reading is a true one: throttles ask for it before they wait.
    #[inline]
    fn refresh(&self) {}

    /// Whether [`delay`](Clock::delay) takes time. Futures then wait elsewhere, and call it only for an
    /// instant.
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

/// A clock that stands still for some calls: it reads the one below at every *k*-th.
///
/// Between two readings it is late, never early; so a throttle keeps its rate. When a throttle has to wait
/// it reads anew. Source: seed "throttled worker queue", the clock's *frequency*.
///
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
    /// If that is 0.
    pub fn new(every: u32) -> Result<Self, ThrottleError> {
        Self::over(RealClock::new(), every)
    }
}

impl<C: Clock> SampledClock<C> {
    /// Another clock, read at every `every`-th call.
    ///
    /// # Errors
    /// If that is 0.
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

/// The processor's time-stamp counter: half as dear as [`RealClock`], and as steady as its calibration (about one part in
/// ten thousand).
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
    /// Counts from now on; none if the processor has no counter, or one whose speed changes.
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

/// A clock for tests: its time goes on when it is told to, and when somebody waits. Nothing sleeps.
///
/// Its clones are the same clock.
///
/// ```
/// use sateen::flow::{Clock, ManualClock};
/// use std::time::Duration;
/// let clock = ManualClock::new();
/// clock.delay(Duration::from_secs(3600));
/// clock.advance(Duration::from_secs(1));
/// assert_eq!((clock.elapsed().as_secs(), clock.delays()), (3601, 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<Manual>);

#[derive(Debug, Default)]
struct Manual {
    nanos: AtomicU64,
    /// By how much each delay ends too late.
    lateness: AtomicU64,
    delays: AtomicU64,
}

impl ManualClock {
    /// At zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets time pass; after 584 years it stands still.
    pub fn advance(&self, interval: Duration) {
        let later = |now: u64| Some(now.saturating_add(nanos(interval)));
        // Relaxed: the time guards no data. It never refuses.
        _ = self.0.nanos.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later);
    }

    /// From now on each delay takes so much longer than it should: a system that wakes late.
    pub fn set_lateness(&self, lateness: Duration) {
        self.0.lateness.store(nanos(lateness), Ordering::Relaxed);
    }

    /// How often somebody has waited.
    pub fn delays(&self) -> u64 {
        self.0.delays.load(Ordering::Relaxed)
    }
}

/// 584 years at most.
fn nanos(interval: Duration) -> u64 {
    u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX)
}

impl Clock for ManualClock {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    fn delay(&self, interval: Duration) {
        self.0.delays.fetch_add(1, Ordering::Relaxed);
        let late = Duration::from_nanos(self.0.lateness.load(Ordering::Relaxed));
        self.advance(interval.saturating_add(late));
    }

    fn nanos(&self) -> u64 {
        self.0.nanos.load(Ordering::Relaxed)
    }

    fn takes_time(&self) -> bool {
        false
    }
}
