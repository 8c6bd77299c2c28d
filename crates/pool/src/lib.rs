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
#[cfg(feature = "study")]
mod global;
#[cfg(feature = "study")]
mod lock_free_flags;
mod lock_free_tree;
#[cfg(feature = "study")]
mod locked_bits;
#[cfg(feature = "study")]
mod locked_flags;
#[cfg(feature = "study")]
mod locked_tree;
mod magazine;
mod pool;
mod search_counter;
mod strategy;
mod words;
mod zeroed;

pub use block_pool::BlockPool;
pub use error::BuildError;
pub use lock_free_tree::LockFreeTree;
pub use magazine::{HeapSizes, Magazine};
pub use pool::{ArcPoolBox, BoxIn, Builder, Full, Growth, Key, Pool, PoolBox, PoolRef, Ref, Stats};
pub use strategy::Strategy;

#[cfg(feature = "study")]
pub use {
    blocks::Blocks,
    global::Global,
    lock_free_flags::LockFreeFlags,
    locked_bits::LockedBits,
    locked_flags::LockedFlags,
    locked_tree::LockedTree,
    magazine::HeapMagazine,
    search_counter::{Count, Counts, NoCount, SearchCounter},
    strategy::Allocate,
};
#[cfg(not(feature = "study"))]
use {
    blocks::Blocks,
    search_counter::{NoCount, SearchCounter},
    strategy::Allocate,
};

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
