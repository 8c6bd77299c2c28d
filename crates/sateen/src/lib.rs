//! A multicore runtime: fork-join, background tasks, futures, loops, graphs, channels, locks and
//! pools on one set of worker threads.
//!
//! ```
//! use sateen::{join, par_map, spawn};
//!
//! // Two branches: another worker may steal the second.
//! let (a, b) = join(|| 20 + 1, || 20 + 1);
//! // A loop, cut as finely as other workers are idle.
//! let squares = par_map(&[1, 2, 3], |x| x * x);
//! // A task in the background, which may block.
//! let handle = spawn(move || a + b);
//! assert_eq!(handle.join()?, 42);
//! assert_eq!(squares, [1, 4, 9]);
//! # Ok::<(), sateen::JoinError>(())
//! ```
//!
//! # Which part do I need?
//!
//! | You want | Take |
//! |---|---|
//! | fork-join: two or more computations, results back | [`join`], [`fork`] |
//! | any number of tasks that borrow | [`scope`] |
//! | a parallel loop | [`par_for`], [`par_map`], [`par_reduce`], [`par_chunks_mut`] |
//! | a parallel sort | [`par_sort`], [`par_sort_unstable`] |
//! | work in the background, with a handle | [`spawn`], [`Spawn`] for a name, a priority, a place |
//! | a future on the same workers | [`spawn_async`]; [`block_on`] waits for one anywhere |
//! | calls that block their thread: files, sockets, C libraries | [`blocking()`] |
//! | to wait for some time, or no longer than that | [`sleep()`], [`timeout`] |
//! | to cancel | [`JoinHandle::cancel`], [`CancelToken`] |
//! | locks, events and more to wait on | [`sync`]; [`sync::spin`] for spinlocks and futex locks |
//! | messages | [`channel`] |
//! | queues that refuse instead of waiting | [`queue`] |
//! | tasks that depend on each other, as closures | [`flow::Graph`] |
//! | the same by the million, as data | [`shed`]; [`flow::RunOn`] on a runtime's workers |
//! | items through workers, at a rate, with back-pressure | [`flow::WorkerQueue`] |
//! | memory of one size, boxed or by key | [`pool`] |
//! | a work-stealing deque for a scheduler of your own | [`deque`] |
//! | a runtime with settings | [`Runtime::builder`] |
//! | a runtime that is this thread, for a window or an event loop | [`Runtime::current_thread`] |
//! | another order of tasks | [`policy`] |
//! | to see what waits for what | [`Runtime::report`] |
//!
//! # What to know first
//!
//! * **A task may block** in locks, channels, joins and sleeps of this crate: it is suspended, and
//!   its worker goes on. Everything else that blocks holds up a worker; [`blocking()`] prevents
//!   that.
//! * **A task has 192 KiB of stack.** [`Builder::stack_size`] and [`Spawn::stack_size`] set other
//!   sizes.
//! * **Two uses of thread-locals** are unsound in tasks that wait: see
//!   [blocking](guide::blocking#thread-locals).
//!
//! The [`guide`] has all of this in reading order, beginning with [first steps](guide::start). If
//! you know rayon, crossbeam or tokio, begin with [switching](guide::switching).
//!
//! # For those who change it
//!
//! This crate is the facade, layer 6 of the workspace: re-exports and the guide, no code. Below are
//! all library crates; above is the lab. Invariants and proofs are with the crates that hold them.
//! `ARCHITECTURE.md` in the repository is the map.
#![forbid(unsafe_code)]

pub use sateen_runtime::*;

/// Primitives on which a thread blocks, a task is suspended, and a future waits: written once each.
pub mod sync {
    pub use sateen_sync::*;
}

/// Work-stealing deques with the names of `crossbeam-deque`.
pub mod deque {
    pub use sateen_deque::*;
}

/// Pools of memory blocks of one size.
pub mod pool {
    pub use sateen_pool::*;
}

/// Queues that any thread may push to and pop from.
pub mod queue {
    pub use sateen_queue::*;
}

/// Channels with the names of `crossbeam-channel`, for threads, tasks and futures alike.
pub mod channel {
    pub use sateen_queue::channel::*;
}

/// Schedulers of tasks with dependencies: data structures without threads of their own.
pub mod shed {
    pub use sateen_shed::*;
}

/// Sheds on a runtime's workers, graphs of tasks with results, throttles and worker queues.
pub mod flow {
    pub use sateen_flow::*;
}

pub mod guide;
