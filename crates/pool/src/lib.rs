//! Layer 1 of Sateen: pools of memory blocks of one size.
//!
//! [`BlockPool`] takes its memory once and hands it out block by block; how it finds a free one is its
//! [`Strategy`], a type parameter:
//!
//! | Strategy | Finds a free block by | Bookkeeping |
//! |---|---|---|
//! | [`Global`] | asking a general allocator: the reference | the allocator's |
//! | [`LockFreeFlags`] | looking at one flag after the other, round-robin; no lock | 4 bytes a block |
//! | [`LockedFlags`] | the same, under a lock | 4 bytes a block |
//! | [`LockedBits`] | looking at 64 bits at a time, round-robin, under a lock | 1 bit a block |
//! | [`LockedTree`] | going down a tree of bits, under a lock: always the first | 1.02 bits a block |
//! | [`LockFreeTree`] | going through the same tree without a lock | 1.02 bits a block |
//! | [`Magazine`] | looking into the thread's own cache | 1 bit a block, 1 KiB a thread |
//!
//! [`Pool`] is the typed front: boxes ([`PoolBox`]) that return their block when dropped, and a table of entries
//! found by [`Key`]; with any strategy, [`Magazine`] unless another is named.
//!
//! Below: `sateen-base`. Above: the runtime, and users. Invariant: a block is in the hands of one user at a
//! time, and all of them come back. States and proofs are in the crate's `README.md`.

mod block_pool;
mod blocks;
mod error;
mod global;
mod lock_free_flags;
mod lock_free_tree;
mod locked_bits;
mod locked_flags;
mod locked_tree;
mod magazine;
mod pool;
mod probe;
mod strategy;
mod words;
mod zeroed;

pub use block_pool::BlockPool;
pub use blocks::Blocks;
pub use error::BuildError;
pub use global::Global;
pub use lock_free_flags::LockFreeFlags;
pub use lock_free_tree::LockFreeTree;
pub use locked_bits::LockedBits;
pub use locked_flags::LockedFlags;
pub use locked_tree::LockedTree;
pub use magazine::{HeapMagazine, HeapSizes, Magazine};
pub use pool::{ArcPoolBox, BoxIn, Builder, Full, Growth, Key, Pool, PoolBox, PoolRef, Ref, Stats};
pub use probe::{Count, Counts, NoCount, Probe};
pub use strategy::Strategy;

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
