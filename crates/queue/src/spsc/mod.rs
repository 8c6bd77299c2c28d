#![doc = include_str!("README.md")]

mod ring;

#[cfg(feature = "study")]
#[doc(hidden)]
pub use ring::starting_at;
pub use ring::{Consumer, Producer, bounded};
