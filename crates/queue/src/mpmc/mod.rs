#![doc = include_str!("README.md")]

mod batch;
mod block;
mod bounded;
mod claim;
mod cursor;
mod depot;
mod position;
mod segment;
mod unbounded;

pub use batch::Batch;
pub use bounded::Bounded;
pub(crate) use bounded::ReservedSlot;
pub use unbounded::Unbounded;
