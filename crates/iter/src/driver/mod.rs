//! How producers and consumers are brought together.

mod indexed;
mod unindexed;

pub use indexed::{bridge, bridge_producer_consumer};
pub use unindexed::bridge_unindexed;
