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

pub use clock::{Clock, ManualClock, RealClock, SampledClock, TscClock};
pub use error::ThrottleError;
pub use rate::Rate;
pub use shared::{Hand, SharedThrottle};
pub use single::Throttle;

pub(crate) use pause::pause_async;
use rate::Grid;

/// A caller that comes back late makes up for so many seconds, if nothing else was wanted.
const BURST_SECONDS: f64 = 0.1;

/// Whoever owns a throttle has so large a part of its burst in hand at most.
const HANDFUL: u64 = 8;

/// What a throttle has been told.
#[derive(Clone, Copy, Debug)]
struct Plan {
    grid: Grid,
    burst: u64,
    /// Tokens that are taken with one reading of the clock.
    batch: u64,
}

impl Plan {
    fn new(rate: Rate) -> Self {
        let grid = Grid::new(rate);
        let burst = grid.within(BURST_SECONDS);
        Self { grid, burst, batch: (burst / HANDFUL).max(1) }
    }

    fn with_burst(self, burst: u64) -> Result<Self, ThrottleError> {
        if burst == 0 {
            return Err(ThrottleError::ZeroBurst);
        }
        Ok(Self { burst, batch: self.batch.min((burst / HANDFUL).max(1)), ..self })
    }

    fn with_batch(self, batch: u64) -> Result<Self, ThrottleError> {
        if batch == 0 {
            return Err(ThrottleError::ZeroBatch);
        }
        Ok(Self { batch: batch.min((self.burst / HANDFUL).max(1)), ..self })
    }

    /// The least that counts as taken when `due` are due: who is late by more than a burst has lost the rest.
    #[inline(always)]
    fn floor(&self, due: u64) -> u64 {
        due.saturating_sub(self.burst)
    }
}
