//! Timers: what wakes a waiter when its time has come. Protocol and proof: the crate's `README.md`,
//! section *Timers*.
//!
//! Three layers: the [`TimerQueue`], a heap that anybody may fire; the [`Timer`], its pinned node;
//! and what most people want, sleeping and time-outs. (The last are not in models: their fallback
//! is a static with a thread, and models start anew each time.)

mod clock;
#[cfg(not(loom))]
mod fallback;
mod heap;
mod node;
mod queue;
#[cfg(not(loom))]
mod sleep;

pub use node::Timer;
pub use queue::TimerQueue;
#[cfg(not(loom))]
pub use sleep::{
    Elapsed, Sleep, Timeout, sleep, sleep_async, sleep_until, sleep_until_async, timeout_async,
};
