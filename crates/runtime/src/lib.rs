//! Layer 4 of Sateen: workers, fork-join, and tasks that may block.
//!
//! Below: `sateen-base`, `sateen-sync` (parking), `sateen-deque` (run queues). Above: `sateen-flow`,
//! the facade. Users depend on the facade, `sateen`.
//!
//! Two kinds of work, two structures. *Nested* work ([`join`], [`fork`], loops) lies in frames and goes
//! on a join stack that belongs to the fiber; *independent* work ([`spawn`], [`Scope::spawn`]) lies on
//! the heap and goes on the worker's run queue. A task that has to wait is suspended with its whole
//! stack, and its worker goes on with other work on another stack, never on top of the waiter.
//!
//! Invariants: no task is started twice; a started task stays on its worker; nothing runs on top of a
//! waiter's frames but what it waits for; no panic passes a job's boundary except to its joiner. States,
//! protocols and proofs: `README.md` of this crate.

#[cfg(not(loom))]
mod announce;
#[cfg(loom)]
pub mod aside;
#[cfg(not(loom))]
mod aside;
#[cfg(not(loom))]
mod blocking;
#[cfg(not(loom))]
mod build_error;
#[cfg(not(loom))]
mod builder;
#[cfg(not(loom))]
mod context;
#[cfg(not(loom))]
mod current_thread;
#[cfg(loom)]
pub mod cycles;
#[cfg(not(loom))]
mod cycles;
#[cfg(loom)]
pub mod drain;
#[cfg(not(loom))]
mod drain;
#[cfg(not(loom))]
mod entry;
#[cfg(not(loom))]
mod fiber;
#[cfg(loom)]
pub mod flag;
#[cfg(not(loom))]
mod flag;
#[cfg(not(loom))]
mod foreign;
#[cfg(not(loom))]
mod fork;
#[cfg(not(loom))]
mod forked;
#[cfg(loom)]
pub mod gate;
#[cfg(not(loom))]
mod gate;
#[cfg(not(loom))]
mod global;
#[cfg(not(loom))]
mod hooks;
#[cfg(not(loom))]
mod idle;
#[cfg(loom)]
pub mod inbox;
#[cfg(not(loom))]
mod inbox;
#[cfg(not(loom))]
mod join;
#[cfg(loom)]
pub mod join_stack;
#[cfg(not(loom))]
mod join_stack;
#[cfg(loom)]
pub mod latch;
#[cfg(not(loom))]
mod latch;
#[cfg(loom)]
pub mod live;
#[cfg(not(loom))]
mod live;
#[cfg(loom)]
pub mod of_process;
#[cfg(not(loom))]
mod of_process;
#[cfg(loom)]
pub mod offer;
#[cfg(not(loom))]
mod offer;
#[cfg(not(loom))]
mod overflow;
#[cfg(not(loom))]
mod panic_count;
#[cfg(not(loom))]
mod par;
#[cfg(loom)]
pub mod park_word;
#[cfg(not(loom))]
mod park_word;
#[cfg(not(loom))]
pub mod policy;
#[cfg(not(loom))]
mod report;
#[cfg(loom)]
pub mod request_word;
#[cfg(not(loom))]
mod request_word;
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
#[cfg(loom)]
pub mod sleepers;
#[cfg(not(loom))]
mod sleepers;
#[cfg(not(loom))]
mod stack;
#[cfg(loom)]
pub mod stall;
#[cfg(not(loom))]
mod stall;
#[cfg(loom)]
pub mod started_on;
#[cfg(not(loom))]
mod started_on;
#[cfg(not(loom))]
mod starve;
#[cfg(not(loom))]
mod stats;
#[cfg(not(loom))]
mod substitutes;
#[cfg(not(loom))]
mod switch;
#[cfg(not(loom))]
mod task;
#[cfg(loom)]
pub mod task_state;
#[cfg(not(loom))]
mod task_state;
#[cfg(loom)]
pub mod tight;
#[cfg(not(loom))]
mod tight;
#[cfg(not(loom))]
mod time;
#[cfg(not(loom))]
mod timekeeper;
#[cfg(not(loom))]
mod unwind;
#[cfg(loom)]
pub mod wait_record;
#[cfg(not(loom))]
mod wait_record;
#[cfg(not(loom))]
mod waits;
#[cfg(loom)]
pub mod wake_word;
#[cfg(not(loom))]
mod wake_word;
#[cfg(not(loom))]
mod waker;
#[cfg(loom)]
pub mod watcher;
#[cfg(not(loom))]
mod watcher;
#[cfg(not(loom))]
mod worker;

#[cfg(not(loom))]
pub use sateen_sync::{
    block_on,
    timer::{
        Elapsed, Sleep, Timeout, sleep, sleep_async, sleep_until, sleep_until_async, timeout_async,
    },
};
#[cfg(not(loom))]
pub use {
    blocking::blocking,
    build_error::BuildError,
    builder::{Builder, MAX_WORKERS, STRICT_VARIABLE, WORKERS_VARIABLE, WorkerThread},
    current_thread::{CurrentThread, Polled, Spawner, spawn_local},
    fiber::{fiber_number, stack_used},
    fork::fork,
    join::join,
    par::{
        Grain, grain, par_chunks_mut, par_for, par_map, par_reduce, par_sort, par_sort_unstable,
    },
    report::{Blocked, Deadlock, FiberInfo, FiberState, Owner, Report, WaitsFor},
    runtime::{Runtime, worker_index},
    scope::{Scope, scope},
    shutdown::{Remaining, ShutdownError, WhyRemaining},
    stack::{
        FixedStacks, Guard, PooledStacks, Stack, StackAllocator, StackSizeError, min_stack_size,
    },
    stats::{Stats, WorkerStats},
    task::{
        CancelToken, Cancelled, Current, FiberLocal, JoinError, JoinHandle, LocalError, Priority,
        Spawn, TaskId, check_cancelled, current, spawn, spawn_async,
    },
    time::timeout,
    waits::{has_ready, no_suspend, poll, yield_now},
};

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
