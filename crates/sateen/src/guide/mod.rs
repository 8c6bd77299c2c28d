//! The guide. Every example in it is compiled and run as a test.
//!
//! In reading order:
//!
//! | Page | What it is about |
//! |---|---|
//! | [`start`] | the parts at work, and what to know first |
//! | [`switching`] | for those who know rayon, crossbeam, tokio or `parking_lot` |
//! | [`blocking`] | what a task may wait for, and how; thread-locals |
//! | [`stacks`] | how large they are, recursion, many blocked tasks |
//! | [`waiting`] | futures, time limits, cancelling |
//! | [`channels`] | messages between tasks, threads and futures |
//! | [`queues`] | queues, and workers that handle items at a rate |
//! | [`graphs`] | tasks that depend on each other |
//! | [`choosing`] | which lock, which counter, which pool |
//! | [`tuning`] | settings, and what a runtime says of itself |
//! | [`see_it_run`] | metrics, a view from outside, traces, and log lines with their tasks |
//! | [`corner_cases`] | waits while unwinding, wakers of your own, `fork` |
//! | [`panic_abort`] | cancelling in a program with `panic = "abort"` |

#[doc = include_str!("start.md")]
pub mod start {}

#[doc = include_str!("switching.md")]
pub mod switching {}

#[doc = include_str!("blocking.md")]
pub mod blocking {}

#[doc = include_str!("stacks.md")]
pub mod stacks {}

#[doc = include_str!("waiting.md")]
pub mod waiting {}

#[doc = include_str!("channels.md")]
pub mod channels {}

#[doc = include_str!("queues.md")]
#[doc = include_str!("flow.svg")]
pub mod queues {}

#[doc = include_str!("graphs.md")]
#[doc = include_str!("graph.svg")]
pub mod graphs {}

#[doc = include_str!("choosing.md")]
pub mod choosing {}

#[doc = include_str!("tuning.md")]
pub mod tuning {}

#[doc = include_str!("see_it_run.md")]
#[doc = include_str!("trace.svg")]
#[doc = include_str!("top.svg")]
pub mod see_it_run {}

#[doc = include_str!("corner_cases.md")]
pub mod corner_cases {}

#[doc = include_str!("panic_abort.md")]
pub mod panic_abort {}
