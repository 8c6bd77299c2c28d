//! Parallel iterators, with the names and meanings of rayon's.
//!
//! ```
//! use sateen::prelude::*;
//!
//! let words = ["fork", "join", "fork"];
//! let forks = words.par_iter().filter(|word| **word == "fork").count();
//! assert_eq!(forks, 2);
//! ```
//!
//! # For maintainers
//!
//! Layer 5 of Sateen. Below: `sateen-runtime`, whose `join` and chunked loops do the work. Above:
//! users, through the facade. `driver` brings producers and consumers together; `iter` has the
//! traits, adapters and ends; the other modules are sources, one a type of `std`.
//!
//! Invariants: an item is given to one folder, once. A result is dropped once, also after a panic.
//! A wrong length costs items or memory, and never memory safety. `unsafe` stands in `array`,
//! `owned`, `vec` and `iter::collect::places`, each with its argument. Design: `README.md` of this
//! crate.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![deny(unsafe_code)]
#![cfg(not(loom))]

mod bounds;
mod driver;
#[allow(unsafe_code, reason = "items leave memory that is freed by its owner")]
mod owned;
mod parts;
mod range_chars;

#[allow(unsafe_code, reason = "items leave the array one by one")]
pub mod array;
pub mod collections;
pub mod iter;
pub mod option;
pub mod prelude;
pub mod range;
pub mod range_inclusive;
pub mod result;
pub mod slice;
pub mod str;
pub mod string;
#[allow(unsafe_code, reason = "items leave the vector one by one")]
pub mod vec;

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
