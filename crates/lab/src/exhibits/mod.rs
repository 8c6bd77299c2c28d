//! What a user would not choose: simpler or cheaper forms of what the product has, to show what
//! the choice is worth.

mod clocks;

pub(crate) use clocks::{SampledClock, TscClock};
