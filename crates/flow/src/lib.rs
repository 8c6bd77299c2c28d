//! Layer 5 of Sateen: what drives sheds on runtime workers, graphs of tasks with results, and worker queues.
//!
//! [`RunOn::run_on`] builds a shed whose channels are worked off by the workers of a runtime, by some of them, or by the thread that
//! waits. [`Graph`] is for those who only want a graph: closures, what comes after what, results. [`WorkerQueue`] spreads items over
//! workers that handle them at a rate; [`Throttle`] and [`SharedThrottle`] hold anything else back to one.
//!
//! Below: `sateen-shed`, `sateen-queue` and `sateen-runtime`. Above: users, through the facade. Invariant: while a task is ready, somebody who will
//! look for it is awake or queued, and not suspended. Protocol and proof are in the crate's `README.md`.
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
pub mod hold;
#[cfg(not(loom))]
mod hold;
#[cfg(loom)]
pub mod idle;
#[cfg(not(loom))]
mod idle;
#[cfg(loom)]
pub mod lane;
#[cfg(not(loom))]
mod lane;
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
        Overflow, Refusal, Retry, SendError, Sender, StartError, Stats, WaitTimes, WorkerQueue,
        WorkerStats,
    },
};

#[cfg(all(feature = "study", not(loom)))]
pub use throttle::{SampledClock, TscClock};

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
