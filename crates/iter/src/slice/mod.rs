//! Parallel iterators over slices, and parallel sorts.
//!
//! ```
//! use sateen::prelude::*;
//! let mut numbers = [5, 3, 8, 1];
//! numbers.par_sort();
//! let sums: Vec<i32> = numbers.par_chunks(2).map(|pair| pair.iter().sum()).collect();
//! assert_eq!(sums, [4, 13]);
//! ```

mod chunks;
mod chunks_exact;
mod iter;
mod parallel_slice;
mod parallel_slice_mut;
mod parts;
mod producers;
mod sort;
mod windows;

pub use {
    chunks::{Chunks, ChunksMut, RChunks, RChunksMut},
    chunks_exact::{ChunksExact, ChunksExactMut, RChunksExact, RChunksExactMut},
    iter::{Iter, IterMut},
    parallel_slice::ParallelSlice,
    parallel_slice_mut::ParallelSliceMut,
    parts::{ChunkBy, ChunkByMut, Split, SplitInclusive, SplitInclusiveMut, SplitMut},
    windows::{ArrayWindows, Windows},
};
