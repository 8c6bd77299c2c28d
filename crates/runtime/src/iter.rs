//! Internals for `sateen-iter`, without any stability promise.

pub use crate::current_num_threads as workers;
pub use crate::par::lazy::Lazy;
pub use crate::par::piece::Piece;
pub use crate::par::sort_by;
