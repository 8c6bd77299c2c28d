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
mod chain;
mod copied;
mod enumerate;
mod filter;
mod flat_map;
mod fold;
mod inspect;
mod len;
mod map;
mod map_with;
mod rev;
mod zip;

// Ends.
pub(crate) mod collect;
mod find;
mod find_first_last;
mod for_each;
mod reduce;
mod sum;
mod try_reduce;

// Sources that belong to no type.
mod par_bridge;
pub(crate) mod sources;

// The traits; `methods` has their provided methods, one file a family.
mod indexed_parallel_iterator;
mod methods;
mod parallel_iterator;
mod traits;

pub use {
    chain::Chain,
    copied::{Cloned, Copied},
    enumerate::Enumerate,
    filter::{Filter, FilterMap},
    flat_map::{FlatMap, FlatMapIter, Flatten, FlattenIter},
    fold::{Fold, FoldWith},
    indexed_parallel_iterator::IndexedParallelIterator,
    inspect::Inspect,
    len::{MaxLen, MinLen},
    map::Map,
    map_with::{MapInit, MapWith},
    par_bridge::{IterBridge, ParallelBridge},
    parallel_iterator::ParallelIterator,
    rev::Rev,
    sources::{Empty, Once, RepeatN, empty, once, repeat_n},
    traits::{
        FromParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
        IntoParallelRefMutIterator, ParallelDrainFull, ParallelDrainRange, ParallelExtend,
    },
    zip::Zip,
};
