//! Sateen: one multicore runtime for tasks, fibers and queues.
pub use sateen_runtime::*;
/// Primitives that block a thread, suspend a task, or are awaited.
pub mod sync {
    pub use sateen_sync::{Event, Mutex, MutexGuard};
}
