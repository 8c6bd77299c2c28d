//! Layer 2 of Sateen: queues between threads.
//!
//! * [`mpmc::Unbounded`]: many producers, many consumers, no limit; the injector of the scheduler.
//!
//! Below: `sateen-base`. Above: `sateen-deque` (its `Injector` is [`mpmc::Unbounded`] with the
//! names of the ecosystem), the runtime. Invariants: an item that went in comes out exactly once or
//! is dropped with the queue; items of one producer keep their order; memory goes back as the queue
//! drains, without epochs or hazard pointers. The states, the protocol and the proof sketch are in
//! `src/mpmc/README.md`; the model-checked part is `tests/loom_unbounded.rs`.

pub mod mpmc;
mod prim;
