//! What a user would not choose: simpler or cheaper forms of what the product has, to show what
//! the choice is worth.

mod clocks;
pub(crate) mod pools;
mod shared_policy;
pub(crate) mod spin;

pub(crate) use clocks::{SampledClock, TscClock};
pub(crate) use shared_policy::work_sharing_locked;
