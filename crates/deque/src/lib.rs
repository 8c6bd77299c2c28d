//! Layer 3 of Sateen: work-stealing deques, with the API of `crossbeam-deque`.
//!
//! Below: `sateen-base`; `sateen-queue`, whose unbounded queue is the [`Injector`]. Above: the
//! runtime's run queues, and the lab, which measures the stages beside the peers.
//!
//! Invariants: an item that went in comes out exactly once or is dropped with its deque. A thief
//! touches an item only after it has claimed it. No thief waits for another thread. A deque's
//! memory depends on nothing outside it.
//!
//! The states, the protocol and the proof sketch follow below; the models are `tests/loom_*.rs`.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod buffer;
mod index;
mod injector;
mod inner;
mod prim;
mod room;
mod split;
mod stage;
#[cfg(all(test, not(loom)))]
mod stalls;
mod steal;
mod stealer;
mod worker;

pub use injector::Injector;
pub use stage::{Asymmetric, Cached, Stage};
#[doc(hidden)]
pub use stage::{Padded, Plain};
pub use steal::Steal;
pub use stealer::Stealer;
pub use worker::Worker;

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
