//! A part of the lab of Sateen, layer 7: what its program `sateen` may not do is a test of the
//! documentation, and only a library has those. The other parts are in `main.rs`.
//!
//! Below: nothing. Above: the program. Invariant: only [`foreign`] displays text of others.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod foreign;
