//! Layer 4 of Sateen: workers, fork-join, and tasks that may block.
//!
//! Below: `sateen-base`, `sateen-sync` (parking), `sateen-deque` (run queues). Above:
//! `sateen-flow`, `sateen-iter`, the facade. Users depend on the facade, `sateen`.
//!
//! There are two kinds of work, in two structures. *Nested* work ([`join`], [`fork`], loops) lies
//! in frames and goes on a join stack, which belongs to the fiber. *Independent* work ([`spawn`],
//! [`Scope::spawn`]) lies on the heap and goes on the worker's run queue. A task that must wait is
//! suspended with its whole stack. Its worker then runs other work on another stack, never on top
//! of the waiter.
//!
//! Invariants: no task is started twice; a started task stays on its worker; on top of a waiter's
//! frames runs only what it waits for; a panic leaves a job only towards its joiner. States,
//! protocols and proofs: `README.md` of this crate.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

// Available on every target, but not in models.
#[cfg(not(loom))]
#[doc(hidden)]
pub mod iter;
#[cfg(not(loom))]
mod par;
#[cfg(not(loom))]
mod unwind;

// Without threads everything runs on the calling thread.
#[cfg(target_family = "wasm")]
mod inline;

cfg_if::cfg_if! {
    if #[cfg(not(target_family = "wasm"))] {
        // Protocols, which models exercise.
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
        mod own_list;
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

        sateen_base::open_to_models! {
            aside, consent, cycles, distant, drain, flag, gate, inbox, join_stack, latch, live,
            offer, outside_latch, own_list, park_word, request_word, sleepers, stall, started_on,
            task_state, tight, trace_ring, wait_record, wake_word, watcher,
        }
    }
}

cfg_if::cfg_if! {
    if #[cfg(not(any(loom, target_family = "wasm")))] {
        // The rest, which is not in models.
        mod announce;
        mod blocking;
        mod build_error;
        mod builder;
        mod cells;
        #[cfg(feature = "compat")]
        #[doc(hidden)]
        pub mod compat;
        mod context;
        mod current_thread;
        mod elsewhere;
        mod entry;
        mod fiber;
        mod foreign;
        mod foresight;
        mod fork;
        mod forked;
        mod frames;
        mod fresh;
        mod help;
        mod hooks;
        mod idle;
        #[cfg(all(feature = "inspect", unix))]
        #[doc(hidden)]
        pub mod inspect;
        #[cfg(not(all(feature = "inspect", unix)))]
        mod inspect;
        mod join;
        mod lookout;
        mod metrics;
        mod monitor;
        mod outside_spin;
        mod overflow;
        mod own_stack;
        mod own_thread;
        mod panic_count;
        mod placement;
        pub mod policy;
        mod posts;
        mod report;
        mod resident;
        mod root;
        mod runtime;
        mod scope;
        mod shared;
        mod shutdown;
        mod spans;
        mod spawner;
        mod stack;
        mod standoff;
        mod starve;
        mod substitutes;
        mod switch;
        mod task;
        mod time;
        mod timekeeper;
        #[cfg(feature = "trace")]
        #[doc(hidden)]
        pub mod trace;
        #[cfg(not(feature = "trace"))]
        mod trace;
        mod waits;
        mod waker;
        mod worker;
        mod worker_thread;

        pub use sateen_sync::timer::{
            Elapsed, Sleep, Timeout, sleep, sleep_async, sleep_until, sleep_until_async,
            timeout_async,
        };
        #[cfg(all(feature = "trace", feature = "tracing"))]
        pub use spans::TraceLayer;
        #[cfg(feature = "trace")]
        pub use trace::{Trace, TraceError, TraceSummary};
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
            report::{Blocked, Deadlock, FiberInfo, FiberState, Report, WaitOwner, WaitsFor},
            runtime::{Runtime, current_num_threads, worker_index},
            scope::{Scope, scope},
            shutdown::{RemainingFiber, ShutdownError, WhyRemaining},
            spawner::Spawner,
            stack::{PooledStacks, Stack, StackAllocator, StackGuard},
            task::{
                CancelToken, Cancelled, CurrentTask, FiberLocal, FiberLocalError, JoinError,
                JoinHandle, Priority, Spawn, TaskId, check_cancelled, current_task, spawn,
                spawn_async,
            },
            time::timeout,
            waits::{has_ready_work, no_suspend, poll_requests, yield_now},
            worker_thread::WorkerThread,
        };
    }
}

#[cfg(target_family = "wasm")]
pub use inline::{Scope, current_num_threads, fork, join, scope, worker_index};
#[cfg(not(loom))]
pub use par::{
    par_chunks_mut, par_fold, par_for, par_map, par_reduce, par_sort, par_sort_unstable,
};
pub use sateen_base::PanicPayload;
pub use sateen_sync::block_on;

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;

/// Compiles the page's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
