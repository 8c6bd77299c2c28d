//! What `sateen-iter` is built on. Nothing is promised for it.

use crate::context;
pub use crate::par::lazy::{Lazy, Piece};
pub use crate::par::sort_by;
use crate::runtime::Runtime;

/// How many workers the loop that the caller runs has: those of its runtime, else those of the
/// global one, else 1.
pub fn workers() -> usize {
    match context::thread_owner() {
        Some(owner) => owner.shared().regular,
        None if context::with(context::Context::is_inline) => 1,
        None => Runtime::global().map_or(1, |runtime| runtime.workers()),
    }
}
