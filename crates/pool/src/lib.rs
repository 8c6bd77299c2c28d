//! Layer 1 of Sateen: pools of memory blocks of one size.
//!
//! [`BlockPool`] takes its memory once and hands it out block by block; how it finds a free one is its
//! [`Strategy`], a type parameter:
//!
//! | Strategy | Finds a free block by | Bookkeeping |
//! |---|---|---|
//! | [`Global`] | asking a general allocator: the reference | the allocator's |
//!
//! Below: `sateen-base`. Above: the runtime, and users. Invariant: a block is in the hands of one user at a
//! time, and all of them come back. States and proofs are in the crate's `README.md`.

mod block_pool;
mod blocks;
mod error;
mod global;
mod probe;
mod strategy;

pub use block_pool::BlockPool;
pub use blocks::Blocks;
pub use error::BuildError;
pub use global::Global;
pub use probe::{Count, Counts, NoCount, Probe};
pub use strategy::Strategy;

mod pool;
pub use pool::{
    ArcPoolBox, BoxIn, Builder, Full, Growth, Key, Pool, PoolBox, PoolRef, Ref, Stats,
};
