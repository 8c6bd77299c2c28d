#![doc = include_str!("README.md")]

mod cursor;
mod segment;
mod unbounded;

pub use unbounded::{Batch, Unbounded};
