#![doc = include_str!("README.md")]

mod block;
mod bounded;
mod cursor;
mod place;
mod segment;
mod unbounded;

pub use bounded::Bounded;
pub(crate) use bounded::Reserved;
pub use unbounded::{Batch, Unbounded};
