//! Layer 2 of Sateen: queues between threads.
//!
//! * [`spsc`]: one producer, one consumer, a ring; the cheapest.
//! * [`mpmc::Bounded`]: many producers, many consumers, a ring.
//! * [`mpmc::Unbounded`]: many producers, many consumers, no limit; the injector of the scheduler.
//! * [`channel`]: queues that threads, fibers and futures wait for, with the names of
//!   `crossbeam-channel`.
//! * [`ArrayQueue`], [`SegQueue`]: the queues of [`mpmc`] with the names and methods of
//!   `crossbeam-queue`.
//!
//! Below: `sateen-base`, `sateen-sync` (channels wait through it), `sateen-pool` (channels'
//! memory). Above: `sateen-deque` (its `Injector` is an [`mpmc::Unbounded`] with the names of
//! `crossbeam-deque`), the runtime.
//!
//! Invariants: an item that went in comes out exactly once or is dropped with the queue. Items of
//! one producer keep their order. A consumer that is told that a queue is closed has missed no
//! item. Memory goes back as the unbounded queue drains, without epochs or hazard pointers.
//!
//! The states, the protocols and the proof sketches are in `src/mpmc/README.md`,
//! `src/spsc/README.md` and `src/channel/README.md`; the models are `tests/loom_*.rs`.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod channel;
mod compat;
mod error;
mod items;
pub mod mpmc;
mod prim;
mod spin_limit;
pub mod spsc;
mod trace;

pub use compat::{ArrayQueue, SegQueue};
pub use error::{PopError, PushError};
pub use items::TrustedItems;

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
