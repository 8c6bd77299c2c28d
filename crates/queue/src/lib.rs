//! Layer 2 of Sateen: queues between threads.
//!
//! * [`spsc`]: one producer, one consumer, a ring; the cheapest.
//! * [`mpmc::Bounded`]: many producers, many consumers, a ring.
//! * [`mpmc::Unbounded`]: many producers, many consumers, no limit; the injector of the scheduler.
//! * [`channel`]: queues that threads, fibers and futures wait for, with the names of `crossbeam-channel`.
//! * [`ArrayQueue`], [`SegQueue`]: the latter two under the names and with the methods of the ecosystem.
//!
//! Below: `sateen-base`, `sateen-sync` (channels wait through it), `sateen-pool` (channels' memory). Above: `sateen-deque` (its `Injector` is [`mpmc::Unbounded`] with the
//! names of the ecosystem), the runtime. Invariants: an item that went in comes out exactly once or
//! is dropped with the queue; items of one producer keep their order; who is told that a queue is closed has
//! missed no item; memory goes back as the unbounded queue drains, without epochs or hazard pointers. The
//! states, the protocols and the proof sketches are in `src/mpmc/README.md`, `src/spsc/README.md` and `src/channel/README.md`;
//! the model-checked part is in `tests/loom_*.rs`.

pub mod channel;
mod compat;
mod error;
mod items;
pub mod mpmc;
mod patience;
mod prim;
pub mod spsc;

pub use compat::{ArrayQueue, SegQueue};
pub use error::{PopError, PushError};
pub use items::TrustedItems;

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
