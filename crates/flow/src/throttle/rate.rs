//! How many items a second, and when which of them is due.

use super::ThrottleError;
use std::fmt;

/// A number of items a second, or no limit.
///
/// # Examples
/// ```
/// use sateen::flow::{Rate, ThrottleError};
/// assert_eq!(Rate::per_second(2.5)?.get(), Some(2.5));
/// assert_eq!(Rate::UNLIMITED.get(), None);
/// assert_eq!(Rate::per_second(-1.0), Err(ThrottleError::NotPositive(-1.0)));
/// # Ok::<(), ThrottleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// No limit.
    pub const UNLIMITED: Self = Self(f64::INFINITY);
    /// The highest limit there is: ten items a nanosecond.
    pub const MOST: f64 = 1e10;
    /// The lowest limit: an item in 31 years.
    pub const LEAST: f64 = 1e-9;

    /// `items` a second, from [`Rate::LEAST`] to [`Rate::MOST`]. Fractions are allowed.
    ///
    /// # Errors
    /// [`ThrottleError`], with the number, for anything else.
    pub fn per_second(items: f64) -> Result<Self, ThrottleError> {
        match items {
            _ if items.is_nan() => Err(ThrottleError::NotANumber),
            _ if items <= 0.0 => Err(ThrottleError::NotPositive(items)),
            _ if items > Self::MOST => Err(ThrottleError::TooHigh(items)),
            _ if items < Self::LEAST => Err(ThrottleError::TooLow(items)),
            _ => Ok(Self(items)),
        }
    }

    /// Items a second; `None` if it is unlimited.
    pub fn get(self) -> Option<f64> {
        (self != Self::UNLIMITED).then_some(self.0)
    }

    /// For a word that threads share.
    pub(crate) fn bits(self) -> u64 {
        self.0.to_bits()
    }

    /// The rate whose [`bits`](Self::bits) these are.
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(f64::from_bits(bits))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(rate) => write!(f, "{rate}/s"),
            None => f.write_str("unlimited"),
        }
    }
}

/// A rate as a grid in time: item `n` (from 1 on) is due `(n - 1) / rate` after the start.
///
/// Which items are due follows from the time since the start. Nothing is added up, so nothing
/// drifts. An unlimited rate has no grid: ask [`is_unlimited`](Grid::is_unlimited) first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    rate: Rate,
    /// Items a nanosecond, times 2 to the power of `shift`: with 64 significant bits.
    scaled: u64,
    shift: u32,
}

/// The number of items that are due at an unlimited rate, and at most at any other: more than are
/// ever taken, and far from the largest number.
pub(crate) const ENDLESS: u64 = 1 << 62;

impl Grid {
    pub(crate) fn new(rate: Rate) -> Self {
        let Some(items) = rate.get() else { return Self { rate, scaled: 0, shift: 0 } };
        let (mut scaled, mut shift) = (items / 1e9, 0);
        while scaled < (1u64 << 63) as f64 {
            scaled *= 2.0;
            shift += 1;
        }
        // Rounded up by as much as the steps before may have rounded down: an item is due in its
        // own nanosecond.
        Self { rate, scaled: (scaled as u64).saturating_add(1 << 11), shift }
    }

    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// Whether nothing is held back.
    #[inline(always)]
    pub(crate) fn is_unlimited(&self) -> bool {
        self.scaled == 0
    }

    /// How many items are due when `nanos` have passed: one at the start, at most [`ENDLESS`]
    /// (after 14 years at the highest rate).
    #[inline(always)]
    pub(crate) fn due(&self, nanos: u64) -> u64 {
        let items = (u128::from(nanos) * u128::from(self.scaled)) >> self.shift;
        if items < u128::from(ENDLESS) { items as u64 + 1 } else { ENDLESS }
    }

    /// The part of the interval to the next item that has passed after `nanos`: from 0 (an item is
    /// just due) to 1.
    pub(crate) fn progress(&self, nanos: u64) -> f64 {
        let items = u128::from(nanos) * u128::from(self.scaled);
        let part = items & ((1 << self.shift) - 1);
        part as f64 / (self.shift as f64).exp2()
    }

    /// When `progress` has been made towards an item, in nanoseconds from the one before.
    pub(crate) fn time_to(&self, progress: f64) -> u64 {
        self.rate.get().map_or(0, |rate| (progress * (1e9 / rate)) as u64)
    }

    /// When item `n` is due, in nanoseconds from the start; after months it may be slightly early.
    pub(crate) fn time_of(&self, n: u64) -> u64 {
        match self.rate.get() {
            Some(rate) => ((n.saturating_sub(1)) as f64 * (1e9 / rate)).ceil() as u64,
            None => 0,
        }
    }

    /// How many items are due in `seconds`: at least one.
    pub(crate) fn within(&self, seconds: f64) -> u64 {
        self.rate.get().map_or(ENDLESS, |rate| ((rate * seconds) as u64).max(1))
    }
}
