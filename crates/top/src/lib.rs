//! Text of other programs, made harmless. Layer 0.
//!
//! Below: nothing. Above: this crate's program `sateen-top`, which shows what programs say of
//! themselves, and the lab. Invariant: only [`foreign`] displays text of others.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod foreign;
