//! Adapter for general allocators, called directly: with their usual settings, through the crates that make them
//! Rust's. The process itself keeps its own.

use crate::adapter::{LonePoolVisitor, PoolVisitor};
use crate::blocks::{Jemalloc, MiMalloc, Raw, SnMalloc};
use sateen_pool::Global;

/// Shows `visitor` the allocators. (The system's is among our strategies.)
pub(crate) fn visit_pools(visitor: &mut impl PoolVisitor) {
    visitor.visit::<Raw<Global<MiMalloc>>>("mimalloc");
    visitor.visit::<Raw<Global<Jemalloc>>>("jemalloc");
    visitor.visit::<Raw<Global<SnMalloc>>>("snmalloc");
}

/// The same for a thread alone.
pub(crate) fn visit_lone_pools(visitor: &mut impl LonePoolVisitor) {
    visitor.visit::<Raw<Global<MiMalloc>>>("mimalloc");
    visitor.visit::<Raw<Global<Jemalloc>>>("jemalloc");
    visitor.visit::<Raw<Global<SnMalloc>>>("snmalloc");
}
