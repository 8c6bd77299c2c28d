//! Adapters for general allocators, called directly, with their usual settings, through the crates
//! that make them Rust's. The process itself keeps its own allocator. The system's allocator is
//! among our strategies.

use crate::blocks::{self, Raw};
use crate::exhibits::pools::Global;

pub(crate) type MiMalloc = Raw<Global<blocks::MiMalloc>>;
pub(crate) type Jemalloc = Raw<Global<blocks::Jemalloc>>;
pub(crate) type SnMalloc = Raw<Global<blocks::SnMalloc>>;
