//! Rates, clocks, and the throttles that hold callers to a rate.
//!
//! A throttle counts what it has let through, and lets through no more than its [`Grid`] says is
//! due. No intervals are added up, so it does not drift. If a caller comes back late by more than a
//! burst, the count moves up.

mod clock;
mod error;
mod pause;
mod rate;
mod shared;
mod single;
mod timeline;

pub use clock::{Clock, ManualClock, RealClock};
pub use error::ThrottleError;
pub use rate::Rate;
pub use shared::{Hand, SharedThrottle};
pub use single::Throttle;

pub(crate) use pause::pause_async;
use rate::Grid;
use sateen_base::prim::time::Duration;

/// The default burst, in seconds: how much lateness a caller makes up for.
const BURST_SECONDS: f64 = 0.1;

/// Callers that take tokens by the batch sleep until those of this time are due. Waiting for each
/// token would be spinning.
const CLUMP: Duration = Duration::from_micros(200);

/// The part of the burst that a throttle's owner may hold as unused tokens: at most an eighth.
const HANDFUL: u64 = 8;

/// The settings of a throttle, and the sizes that follow from them.
#[derive(Clone, Copy, Debug)]
struct Plan {
    grid: Grid,
    burst: u64,
    /// Tokens that are taken with one reading of the clock.
    batch: u64,
    /// Tokens that are waited for at once.
    clump: u64,
    /// What the user asked for.
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

    /// With the sizes that follow from grid and wishes.
    fn with_sizes(self) -> Self {
        let burst = self.wanted_burst.unwrap_or_else(|| self.grid.within(BURST_SECONDS));
        let most = (burst / HANDFUL).max(1);
        let batch = self.wanted_batch.map_or(most, |batch| batch.min(most));
        Self { burst, batch, clump: batch.min(self.grid.within(CLUMP.as_secs_f64())), ..self }
    }

    /// The least that counts as taken when `due` are due: a caller that is late by more than a
    /// burst has lost the rest.
    #[inline(always)]
    fn floor(&self, due: u64) -> u64 {
        due.saturating_sub(self.burst)
    }
}
