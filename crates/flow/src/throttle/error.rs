//! Refused settings of rates and throttles.

use std::error::Error;
use std::fmt;

/// An invalid setting of a rate or a throttle.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ThrottleError {
    /// A rate that is not a number.
    NotANumber,
    /// A rate of zero or less.
    NotPositive(f64),
    /// A rate above [`Rate::MOST`](super::Rate::MOST), infinity included.
    TooHigh(f64),
    /// A rate below [`Rate::LEAST`](super::Rate::LEAST).
    TooLow(f64),
    /// A burst of 0 items.
    ZeroBurst,
    /// A batch of 0 tokens.
    ZeroBatch,
}

impl fmt::Display for ThrottleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber => f.write_str("a rate of NaN items a second"),
            Self::NotPositive(rate) => {
                write!(f, "a rate of {rate:?} items a second is not above 0")
            }
            Self::TooHigh(rate) => {
                write!(f, "a rate of {rate:?} items a second: at most {}", super::Rate::MOST)
            }
            Self::TooLow(rate) => {
                write!(f, "a rate of {rate:?} items a second: at least {}", super::Rate::LEAST)
            }
            Self::ZeroBurst => f.write_str("a burst of 0 items"),
            Self::ZeroBatch => f.write_str("a batch of 0 tokens"),
        }
    }
}

impl Error for ThrottleError {}
