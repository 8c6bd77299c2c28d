//! Rates, clocks, and the throttles that hold back to a rate.
//!
//! A throttle counts what it has let through, and lets through no more than its [`Grid`] says is due: there is no
//! interval that is added up, so it does not drift. The count is moved up where a caller has come back too
//! late for more than a burst.

mod clock;
mod error;
mod pause;
mod rate;
mod shared;
mod single;
#[cfg(feature = "study")]
mod study;
mod timeline;

pub use clock::{Clock, ManualClock, RealClock};
pub use error::ThrottleError;
pub use rate::Rate;
pub use shared::{Hand, SharedThrottle};
pub use single::Throttle;
#[cfg(feature = "study")]
pub use study::{SampledClock, TscClock};

pub(crate) use pause::pause_async;
use rate::Grid;
use sateen_base::prim::time::Duration;

/// A caller that comes back late makes up for so many seconds, if nothing else was wanted.
const BURST_SECONDS: f64 = 0.1;

/// Who takes tokens by the batch waits for those of so long a time at once, asleep; to wait for each would be to spin.
const CLUMP: Duration = Duration::from_micros(200);

/// Whoever owns a throttle has so large a part of its burst in hand at most.
const HANDFUL: u64 = 8;

/// What a throttle has been told, and what follows.
#[derive(Clone, Copy, Debug)]
struct Plan {
    grid: Grid,
    burst: u64,
    /// Tokens that are taken with one reading of the clock.
    batch: u64,
    /// Tokens that are waited for at once.
    clump: u64,
    /// What was asked for.
    wanted_burst: Option<u64>,
    wanted_batch: Option<u64>,
}

impl Default for Plan {
    fn default() -> Self {
        let grid = Grid::new(Rate::UNLIMITED);
        Self { grid, burst: 1, batch: 1, clump: 1, wanted_burst: None, wanted_batch: None }
    }
}

impl Plan {
    /// The same for another rate.
    fn at(self, rate: Rate) -> Self {
        Self { grid: Grid::new(rate), ..self }.with_sizes()
    }

    fn set_burst(&mut self, burst: u64) -> Result<(), ThrottleError> {
        if burst == 0 {
            return Err(ThrottleError::ZeroBurst);
        }
        self.wanted_burst = Some(burst);
        *self = self.with_sizes();
        Ok(())
    }

    fn set_batch(&mut self, batch: u64) -> Result<(), ThrottleError> {
        if batch == 0 {
            return Err(ThrottleError::ZeroBatch);
        }
        self.wanted_batch = Some(batch);
        *self = self.with_sizes();
        Ok(())
    }

    fn with_sizes(self) -> Self {
        let burst = self.wanted_burst.unwrap_or_else(|| self.grid.within(BURST_SECONDS));
        let most = (burst / HANDFUL).max(1);
        let batch = self.wanted_batch.map_or(most, |batch| batch.min(most));
        Self { burst, batch, clump: batch.min(self.grid.within(CLUMP.as_secs_f64())), ..self }
    }

    /// The least that counts as taken when `due` are due: who is late by more than a burst has lost the rest.
    #[inline(always)]
    fn floor(&self, due: u64) -> u64 {
        due.saturating_sub(self.burst)
    }
}
