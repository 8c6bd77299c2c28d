//! What `sateen-iter` is built on. Nothing is promised for it.

pub use crate::par::lazy::{Lazy, Piece};
pub use crate::par::sort_by;
pub use crate::runtime::current_num_threads as workers;
