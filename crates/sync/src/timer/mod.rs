//! Timers: what wakes a waiter when its time has come. Protocol and proof: the crate's `README.md`,
//! section *Timers*.
//!
//! Three layers: the [`TimerQueue`], a heap that anybody may fire; the [`Timer`], its pinned node; and
//! what most people want, sleeping and time-outs.

mod clock;
mod heap;
mod node;
mod queue;

pub use node::Timer;
pub use queue::TimerQueue;
