//! Layer 3 of Sateen: a lock-free scheduler of tasks with dependencies, a data structure without threads of its own.
//!
//! A [`Shed`] holds tasks, each with a payload of the user's, and knows which of them wait for which. Threads
//! create tasks, say what depends on what, make tasks ready on a channel, and execute what is ready: all at the
//! same time, and without locks. Memory is taken once.
//!
//! Without the default feature `std` it needs `core` and `alloc` only, and in a buffer of the user's
//! ([`Builder::build_in`]) it allocates nothing but its callbacks. Threads then have no numbers: all use the same stripe of
//! a [`Sharded`] layout, and a task that makes itself ready is not refused, one that tags itself is.
//!
//! Below: `sateen-base`. Above: `sateen-flow`, which lets runtime workers execute what is ready. Invariants: a
//! task is executed once, after all it depends on has ended; a place has one owner whenever its status changes
//! without an exchange. States and proofs are in the crate's `README.md`.
//!
//! Source: Dan Engelbrecht's Bikeshed (2019), whose operations these are, with 32-bit generations instead of 9,
//! errors instead of asserts, and what its author lists as missing.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod builder;
mod canary;
mod create;
mod cycle;
mod depend;
mod end;
mod error;
mod execute;
mod fifo;
mod grow;
mod id;
mod instance;
mod layout;
mod list;
mod memory;
mod plan;
mod progress;
mod ready;
mod reserve;
mod shed;
mod snapshot;
mod tag;
mod template;
mod template_error;
mod thread;
mod word;

pub use builder::Builder;
pub use error::{BuildError, Error, Full, OtherSizes};
pub use execute::Outcome;
pub use id::TaskId;
pub use instance::{Instance, ShedRef};
pub use layout::{Growing, Layout, Packed, Padded, Pausing, Sharded};
pub use progress::Progress;
pub use shed::{Shed, ShedIn, TaskState};
pub use snapshot::Snapshot;
pub use template::{Node, Template};
pub use template_error::{NotInstalled, StillRunning, TemplateError};
#[cfg(feature = "std")]
pub use thread::set_runner_hook;

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
