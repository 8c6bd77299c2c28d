//! Sheds on the workers of a runtime, graphs of tasks with results, throttles and worker queues.
//!
//! A *shed* is a scheduler of tasks with dependencies: a data structure without threads of its own.
//!
//! | You have | Take |
//! |---|---|
//! | closures, what comes after what, and results | [`Graph`] |
//! | millions of tasks with payloads of one type | a shed, built by [`RunOn::run_on`] |
//! | items that any thread sends and some workers handle, at a rate or not | [`WorkerQueue`] |
//! | one loop that must hold to a rate | [`Throttle`] |
//! | many threads that must hold to a rate together | [`SharedThrottle`] |
//!
//! The workers of a runtime, some of them, or the thread that waits execute the tasks of a shed: a
//! [`Map`] says which.
//!
//! # For maintainers
//!
//! Layer 5 of Sateen. Below: `sateen-shed`, `sateen-queue` and `sateen-runtime`. Above: users,
//! through the facade. Invariant: while a task is ready, a runner task that will look for it is
//! queued, or is between two tasks. Protocol and proof are in the crate's `README.md`.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

#[cfg(loom)]
pub mod attendance;
#[cfg(not(loom))]
mod attendance;
#[cfg(not(loom))]
mod drain;
#[cfg(not(loom))]
mod driven;
#[cfg(not(loom))]
mod error;
#[cfg(loom)]
pub mod gaps;
#[cfg(not(loom))]
mod gaps;
#[cfg(not(loom))]
mod graph;
#[cfg(loom)]
pub mod idle;
#[cfg(not(loom))]
mod idle;
#[cfg(not(loom))]
mod inspect;
#[cfg(loom)]
pub mod lane;
#[cfg(not(loom))]
mod lane;
#[cfg(loom)]
pub mod lane_lock;
#[cfg(not(loom))]
mod lane_lock;
#[cfg(loom)]
pub mod ledger;
#[cfg(not(loom))]
mod ledger;
#[cfg(not(loom))]
mod map;
#[cfg(loom)]
pub mod quiescence;
#[cfg(not(loom))]
mod quiescence;
#[cfg(not(loom))]
mod ready_channels;
#[cfg(loom)]
pub mod runner_slot;
#[cfg(not(loom))]
mod runner_slot;
#[cfg(not(loom))]
mod throttle;
#[cfg(loom)]
pub mod timekeeper;
#[cfg(not(loom))]
mod timekeeper;
#[cfg(not(loom))]
mod trace;
#[cfg(not(loom))]
mod worker_queue;

#[cfg(not(loom))]
pub use {
    driven::{Driven, RunOn},
    error::{RunError, WaitError},
    graph::{Graph, GraphError, Handle, Inputs, On, Output, Tasks},
    map::Map,
    throttle::{
        Clock, Hand, ManualClock, Rate, RealClock, SharedThrottle, Throttle, ThrottleError,
    },
    worker_queue::{
        Builder as WorkerQueueBuilder, CloseError, DeadLetter, DeadReason, Handled, Hanging,
        Overflow, Refusal, Retry, SendError, Sender, StartError, Stats, WorkerQueue, WorkerStats,
    },
};

#[cfg(all(feature = "wait_times", not(loom)))]
pub use worker_queue::WaitTimes;

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
