//! Pools of memory blocks of one size, and values in them.
//!
//! | You need | Take |
//! |---|---|
//! | values with one owner each | [`Pool::try_alloc`], which returns a [`PoolBox`] |
//! | values that many find by a number | [`Pool::insert`], which returns a [`Key`] |
//! | raw memory of one size | [`BlockPool`] |
//! | raw memory of several sizes, without a limit | [`HeapSizes`] |
//!
//! A pool takes its memory once. Its [`Strategy`], a type parameter, finds free blocks:
//!
//! | Strategy | Finds a free block | Bookkeeping |
//! |---|---|---|
//! | [`Magazine`], the default | in the thread's own cache | 1 bit a block, 1 KiB a thread |
//! | [`LockFreeTree`] | by a tree of bits: blocks stay close together | 1.02 bits a block |
//!
//! # For maintainers
//!
//! Layer 1 of Sateen. Below: `sateen-base`. Above: the runtime, and users. Invariant: a block has
//! one user at a time, and every block comes back. States and proofs are in the crate's
//! `README.md`.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod block_pool;
mod blocks;
mod error;
mod lock_free_tree;
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

// For the lab, which compares strategies, and counts what they look at.
#[doc(hidden)]
pub use {
    blocks::Blocks,
    magazine::HeapMagazine,
    search_counter::{Count, Counts, NoCount, SearchCounter},
    strategy::Allocate,
};

#[cfg(doctest)]
#[path = "../tests/variance.rs"]
mod variance;
