//! Layer 3 of Sateen: a lock-free scheduler of tasks with dependencies, a data structure without
//! threads of its own.
//!
//! A [`Shed`] holds tasks, each with a payload of the user's, and knows which of them wait for
//! which. Threads create tasks, say what depends on what, make tasks ready on a channel, and
//! execute what is ready: all at the same time, and without locks. Memory is taken once.
//!
//! Without the default feature `std` the crate needs `core` and `alloc` only. In a buffer of the
//! user's ([`Builder::build_in`]) a shed then allocates nothing but its callbacks. Threads have no
//! numbers there: all use the same stripe of a [`Sharded`] layout, a task that makes itself ready
//! is not refused, and one that tags itself is.
//!
//! # Place
//! Below: `sateen-base`. Above: `sateen-flow`, which lets runtime workers execute what is ready.
//!
//! # Invariants
//! - A task is executed once, after all that it depends on has ended.
//! - A slot has one owner whenever its status changes without an exchange.
//!
//! States and proofs are in the crate's `README.md`.
//!
//! # Layers
//! A module uses only modules that stand before it in this table (`crates/rules` checks it).
//!
//! | Layer | Modules |
//! |---|---|
//! | vocabulary | `id`, `index`, `layout`, `heads`, `word`, `thread` |
//! | errors | `error`, `template_error` |
//! | memory | `block`, `grow`, `memory` |
//! | lists | `list`, `reserve`, `fifo` |
//! | the shed, and what all share | `shed`, `progress`, `channels`, `allocate` |
//! | ends of tasks | `plan`, `in_degree`, `end`, `content` |
//! | operations | `cancel`, `tag`, `create`, `cycle`, `depend`, `ready`, `execute` |
//! | whole graphs and sheds | `instance`, `template`, `builder`, `snapshot` |
//!
//! Source: Dan Engelbrecht's Bikeshed (2019), whose operations these are, with 32-bit generations
//! instead of 9, errors instead of asserts, and what its author lists as missing.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod allocate;
mod block;
mod builder;
mod cancel;
mod channels;
mod content;
mod create;
mod cycle;
mod depend;
mod end;
mod error;
mod execute;
mod fifo;
mod grow;
mod heads;
mod id;
mod in_degree;
mod index;
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
pub use id::{Node, TaskId};
pub use instance::{Instance, ShedRef};
pub use layout::{Central, Growing, Layout, Sharded};
#[doc(hidden)]
pub use layout::{Packed, Padded};
pub use progress::Progress;
pub use shed::{Shed, ShedIn, TaskState};
pub use snapshot::Snapshot;
pub use template::{NotInstalled, Template};
pub use template_error::{StillRunning, TemplateError};
#[cfg(feature = "std")]
pub use thread::set_runner_hook;

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
