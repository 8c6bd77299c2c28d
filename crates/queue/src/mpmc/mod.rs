#![doc = include_str!("README.md")]

mod batch;
mod block;
mod bounded;
mod cursor;
mod depot;
mod place;
mod segment;
mod unbounded;

pub use batch::Batch;
pub use bounded::Bounded;
pub(crate) use bounded::Reserved;
pub use unbounded::Unbounded;
