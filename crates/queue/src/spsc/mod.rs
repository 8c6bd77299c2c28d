#![doc = include_str!("README.md")]

mod ring;

#[doc(hidden)]
pub use ring::starting_at;
pub use ring::{Consumer, Producer, bounded};
