//! Timers, which wake a waiter at a given time. Protocol and proof: the crate's `README.md`,
//! section *Timers*.
//!
//! Most users want [`sleep`], [`sleep_async`] and [`timeout_async`]. Below them are the
//! [`TimerQueue`], a heap that any thread may fire, and the [`Timer`], its pinned node. (Sleeping
//! is not in models: its fallback is a static with a thread, and models start anew each time.)

mod clock;
#[cfg(not(loom))]
mod fallback;
mod heap;
mod node;
mod queue;
#[cfg(not(loom))]
mod sleep;

#[cfg(feature = "primitives")]
pub use node::Timer;
#[cfg(not(feature = "primitives"))]
pub(crate) use node::Timer;
#[cfg(feature = "primitives")]
pub use queue::TimerQueue;
#[cfg(not(feature = "primitives"))]
pub(crate) use queue::TimerQueue;
#[cfg(not(loom))]
pub use sleep::{
    Elapsed, Sleep, Timeout, sleep, sleep_async, sleep_until, sleep_until_async, timeout_async,
};
