//! How producers and consumers are brought together.

mod indexed;
mod unindexed;

pub use indexed::{bridge, bridge_producer_consumer};
pub use unindexed::bridge_unindexed;

/// Panics because an invariant is broken. No memory depends on those of this crate, so the process
/// goes on. Code of the user's may be the cause: one that catches a panic of a consumer and uses it
/// again.
#[cold]
#[inline(never)]
pub(crate) fn broken(what: &str) -> ! {
    panic!("{what}: a panic was caught, and what it left was used again")
}
