//! Sateen: one multicore runtime for Rust. Tasks, branches and loops share one scheduler; a branch
//! costs about a nanosecond, a task costs a stack only if it blocks, and it *may* block.
//!
//! This is the facade, layer 6 of the workspace: re-exports and the [`guide`], no code. Below: all
//! library crates. Above: the lab. The invariants and proofs are with the crates that hold them; the map
//! is `ARCHITECTURE.md` in the repository.
//!
//! ```
//! use sateen::{join, par_map, spawn};
//!
//! // Two branches: the second may be stolen by another worker.
//! let (a, b) = join(|| 20 + 1, || 20 + 1);
//! // A loop, cut as finely as others are idle.
//! let squares = par_map(&[1, 2, 3], |x| x * x);
//! // A task with a handle, which may block.
//! let handle = spawn(move || a + b);
//! assert_eq!(handle.join()?, 42);
//! assert_eq!(squares, [1, 4, 9]);
//! # Ok::<(), sateen::JoinError>(())
//! ```
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
