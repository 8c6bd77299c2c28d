//! The interface of `rayon-core` 1.13, on the workers of [Sateen](https://docs.rs/sateen).
//!
//! A program that uses `rayon` changes to these workers by two lines of its manifest:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { path = "../sateen/crates/rayon-core" }
//! ```
//!
//! Below: `sateen-runtime`, of which this crate uses the public part and the hidden module
//! `compat`. Above: `rayon`. Names, bounds and texts of errors are those of the original. What
//! differs is listed in `README.md`.
//!
//! Each pool is a runtime of its own. A worker knows its pool by a thread-local (`registry.rs`),
//! because no job changes its thread. Invariants: a closure that was accepted is run, or the
//! process ends with a message; no panic leaves a job except to the caller that waits for it, or
//! to the pool's panic handler.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod broadcast;
mod builder;
mod configuration;
mod error;
mod fifo;
mod join;
mod pool;
mod registry;
mod scope;
mod spawn;
mod thread_builder;

#[allow(deprecated)]
pub use configuration::{Configuration, initialize};
pub use {
    broadcast::{BroadcastContext, broadcast, spawn_broadcast},
    builder::ThreadPoolBuilder,
    error::ThreadPoolBuildError,
    join::{FnContext, join, join_context},
    pool::{
        ThreadPool, Yield, current_num_threads, current_thread_has_pending_tasks,
        current_thread_index, max_num_threads, yield_local, yield_now,
    },
    scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo},
    spawn::{spawn, spawn_fifo},
    thread_builder::ThreadBuilder,
};
