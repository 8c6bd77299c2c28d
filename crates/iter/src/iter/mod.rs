//! Parallel iterators: their traits, adapters and small sources.
//!
//! ```
//! use sateen::prelude::*;
//!
//! let sum: i32 = [1, 2, 3].par_iter().map(|n| n * n).sum();
//! assert_eq!(sum, 14);
//! ```
//!
//! A chain of adapters does nothing by itself. An end, such as [`sum`](ParallelIterator::sum) or
//! [`collect`](ParallelIterator::collect), drives it: the items go through the chain in pieces, on
//! all workers that are idle. [`plumbing`] has what sources and adapters of your own need.

pub mod plumbing;

// What several families share.
pub(crate) mod adapter;
pub(crate) mod end;
pub(crate) mod flag;
pub(crate) mod indexed;
mod private;
pub(crate) mod seed;
pub(crate) mod stage;

// Adapters.
mod blocks;
mod chain;
mod chunks;
mod copied;
mod either;
mod enumerate;
mod filter;
mod flat_map;
mod fold;
mod inspect;
mod interleave;
mod intersperse;
mod len;
mod map;
mod map_with;
mod multizip;
mod panic_fuse;
mod positions;
mod rev;
mod skip_take;
mod step_by;
mod try_fold;
mod update;
mod while_some;
mod zip;
mod zip_eq;

// Ends.
pub(crate) mod collect;
mod compare;
mod find;
mod find_first_last;
mod for_each;
mod reduce;
mod scan;
mod sum;
mod try_reduce;

// Sources that belong to no type.
mod par_bridge;
mod repeat;
pub(crate) mod sources;
mod split;
mod walk_tree;

// The traits.
mod indexed_parallel_iterator;
mod parallel_iterator;
mod traits;

/// One of two. As a parallel iterator it has the items of the one that it is. It is `Either` of the
/// crate `either`, which other crates use, too.
///
/// ```
/// use sateen::iter::Either;
/// use sateen::prelude::*;
///
/// let order = |backwards| {
///     let numbers = (0..3).into_par_iter();
///     if backwards { Either::Left(numbers.rev()) } else { Either::Right(numbers) }
/// };
/// assert_eq!(order(true).collect::<Vec<_>>(), [2, 1, 0]);
/// assert_eq!(order(false).collect::<Vec<_>>(), [0, 1, 2]);
/// ```
pub use ::either::Either;
pub use {
    blocks::{ExponentialBlocks, UniformBlocks},
    chain::Chain,
    chunks::{Chunks, FoldChunks, FoldChunksWith},
    copied::{Cloned, Copied},
    enumerate::Enumerate,
    filter::{Filter, FilterMap},
    flat_map::{FlatMap, FlatMapIter, Flatten, FlattenIter},
    fold::{Fold, FoldWith},
    indexed_parallel_iterator::IndexedParallelIterator,
    inspect::Inspect,
    interleave::{Interleave, InterleaveShortest},
    intersperse::Intersperse,
    len::{MaxLen, MinLen},
    map::Map,
    map_with::{MapInit, MapWith},
    multizip::MultiZip,
    panic_fuse::PanicFuse,
    par_bridge::{IterBridge, ParallelBridge},
    parallel_iterator::ParallelIterator,
    positions::Positions,
    repeat::{Repeat, repeat},
    rev::Rev,
    skip_take::{Skip, Take},
    sources::{Empty, Once, RepeatN, empty, once, repeat_n},
    split::{Split, split},
    step_by::StepBy,
    traits::{
        FromParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
        IntoParallelRefMutIterator, ParallelDrainFull, ParallelDrainRange, ParallelExtend,
    },
    try_fold::{TryFold, TryFoldWith},
    update::Update,
    walk_tree::{
        WalkTree, WalkTreePostfix, WalkTreePrefix, walk_tree, walk_tree_postfix, walk_tree_prefix,
    },
    while_some::{SkipAny, SkipAnyWhile, TakeAny, TakeAnyWhile, WhileSome},
    zip::Zip,
    zip_eq::ZipEq,
};

#[expect(deprecated, reason = "rayon has it, too")]
pub use repeat::repeatn;
