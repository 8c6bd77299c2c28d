//! Counters for many threads.
//!
//! | | An addition | Reading |
//! |---|---|---|
//! | an atomic | a locked instruction on a shared line: 5 ns alone, more with each core | a load |
//! | [`StripedCounter`] | a load and a store of a line of its own | a load a stripe |
//! | [`LocalCounter`] | an addition in a register or frame | a load, less unflushed additions |
//!
//! Additions are of `u64` and wrap around, like the atomic `fetch_add`. So a counter may also go
//! down ([`StripedCounter::sub`]), and one that may fall below zero is read as `sum() as i64`.
//!
//! Protocol and proof sketch are in the crate's `README.md`.

mod local;
mod striped;

pub use local::LocalCounter;
pub use striped::StripedCounter;
