//! Layer 4 of Sateen: workers, fork-join, and tasks that may block.
//!
//! Below: `sateen-base`, `sateen-sync` (parking), `sateen-deque` (run queues). Above:
//! `sateen-flow`, `sateen-iter`, the facade. Users depend on the facade, `sateen`.
//!
//! Two kinds of work, two structures. *Nested* work ([`join`], [`fork`], loops) lies in frames and
//! goes on a join stack that belongs to the fiber. *Independent* work ([`spawn`], [`Scope::spawn`])
//! lies on the heap and goes on the worker's run queue. A task that has to wait is suspended with
//! its whole stack, and its worker goes on with other work on another stack, never on top of the
//! waiter.
//!
//! Invariants: no task is started twice; a started task stays on its worker; on top of a waiter's
//! frames runs only what it waits for; no panic passes a job's boundary except to its joiner.
//! States, protocols and proofs: `README.md` of this crate.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

// Protocols, which models drive.
mod aside;
mod consent;
mod cycles;
mod distant;
mod drain;
mod flag;
mod gate;
mod inbox;
mod join_stack;
mod latch;
mod live;
mod offer;
#[cfg(any(loom, feature = "compat"))]
mod outside_latch;
mod park_word;
mod request_word;
mod sleepers;
mod stall;
mod started_on;
mod task_state;
mod tight;
#[cfg(any(loom, feature = "trace"))]
mod trace_ring;
mod wait_record;
mod wake_word;
mod watcher;

// The rest, which models do without.
#[cfg(not(loom))]
mod announce;
#[cfg(not(loom))]
mod blocking;
#[cfg(not(loom))]
mod build_error;
#[cfg(not(loom))]
mod builder;
#[cfg(not(loom))]
mod cells;
#[cfg(all(feature = "compat", not(loom)))]
#[doc(hidden)]
pub mod compat;
#[cfg(not(loom))]
mod context;
#[cfg(not(loom))]
mod current_thread;
#[cfg(not(loom))]
mod elsewhere;
#[cfg(not(loom))]
mod entry;
#[cfg(not(loom))]
mod fiber;
#[cfg(not(loom))]
mod foreign;
#[cfg(not(loom))]
mod foresight;
#[cfg(not(loom))]
mod fork;
#[cfg(not(loom))]
mod forked;
#[cfg(not(loom))]
mod frames;
#[cfg(not(loom))]
mod fresh;
#[cfg(not(loom))]
mod help;
#[cfg(not(loom))]
mod hooks;
#[cfg(not(loom))]
mod idle;
#[cfg(all(feature = "inspect", unix, not(loom)))]
#[doc(hidden)]
pub mod inspect;
#[cfg(not(any(all(feature = "inspect", unix), loom)))]
mod inspect;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod iter;
#[cfg(not(loom))]
mod join;
#[cfg(not(loom))]
mod lookout;
#[cfg(not(loom))]
mod metrics;
#[cfg(not(loom))]
mod monitor;
#[cfg(not(loom))]
mod outside_spin;
#[cfg(not(loom))]
mod overflow;
mod own_list;
#[cfg(not(loom))]
mod own_stack;
#[cfg(not(loom))]
mod own_thread;
#[cfg(not(loom))]
mod panic_count;
#[cfg(not(loom))]
mod par;
#[cfg(not(loom))]
mod placement;
#[cfg(not(loom))]
pub mod policy;
#[cfg(not(loom))]
mod posts;
#[cfg(not(loom))]
mod report;
#[cfg(not(loom))]
mod resident;
#[cfg(not(loom))]
mod root;
#[cfg(not(loom))]
mod runtime;
#[cfg(not(loom))]
mod scope;
#[cfg(not(loom))]
mod shared;
#[cfg(not(loom))]
mod shutdown;
#[cfg(not(loom))]
mod spans;
#[cfg(not(loom))]
mod spawner;
#[cfg(not(loom))]
mod stack;
#[cfg(not(loom))]
mod standoff;
#[cfg(not(loom))]
mod starve;
#[cfg(not(loom))]
mod substitutes;
#[cfg(not(loom))]
mod switch;
#[cfg(not(loom))]
mod task;
#[cfg(not(loom))]
mod time;
#[cfg(not(loom))]
mod timekeeper;
#[cfg(all(feature = "trace", not(loom)))]
#[doc(hidden)]
pub mod trace;
#[cfg(not(any(feature = "trace", loom)))]
mod trace;
#[cfg(not(loom))]
mod unwind;
#[cfg(not(loom))]
mod waits;
#[cfg(not(loom))]
mod waker;
#[cfg(not(loom))]
mod worker;
#[cfg(not(loom))]
mod worker_thread;

sateen_base::open_to_models! {
    aside, consent, cycles, distant, drain, flag, gate, inbox, join_stack, latch, live, offer,
    outside_latch, own_list, park_word, request_word, sleepers, stall, started_on, task_state,
    tight, trace_ring, wait_record, wake_word, watcher,
}

#[cfg(not(loom))]
pub use sateen_base::PanicPayload;
pub use sateen_sync::{
    block_on,
    timer::{
        Elapsed, Sleep, Timeout, sleep, sleep_async, sleep_until, sleep_until_async, timeout_async,
    },
};
#[cfg(all(not(loom), feature = "trace", feature = "tracing"))]
pub use spans::TraceLayer;
#[cfg(all(not(loom), feature = "study"))]
pub use stack::FixedStacks;
#[cfg(all(not(loom), feature = "trace"))]
pub use trace::{Trace, TraceError, TraceSummary};
#[cfg(not(loom))]
pub use {
    blocking::blocking,
    build_error::BuildError,
    builder::{Builder, MAX_WORKERS},
    current_thread::{CurrentThread, Polled, spawn_local},
    fiber::{fiber_number, stack_used},
    fork::fork,
    join::join,
    metrics::{Metrics, ReadyTimes, WorkerMetrics},
    monitor::BlockedWorker,
    par::{
        Grain, par_chunks_mut, par_fold, par_for, par_map, par_reduce, par_sort, par_sort_unstable,
    },
    report::{Blocked, Deadlock, FiberInfo, FiberState, Report, WaitOwner, WaitsFor},
    runtime::{Runtime, current_num_threads, worker_index},
    scope::{Scope, scope},
    shutdown::{RemainingFiber, ShutdownError, WhyRemaining},
    spawner::Spawner,
    stack::{PooledStacks, Stack, StackAllocator, StackGuard},
    task::{
        CancelToken, Cancelled, CurrentTask, FiberLocal, FiberLocalError, JoinError, JoinHandle,
        Priority, Spawn, TaskId, check_cancelled, current_task, spawn, spawn_async,
    },
    time::timeout,
    waits::{has_ready_work, no_suspend, poll_requests, yield_now},
    worker_thread::WorkerThread,
};

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;

/// Compiles the page's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
