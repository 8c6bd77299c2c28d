//! What mutable slices can do in parallel.

use super::{
    ChunkByMut, ChunksExactMut, ChunksMut, RChunksExactMut, RChunksMut, SplitInclusiveMut,
    SplitMut, sort,
};
use std::cmp::Ordering;

/// What mutable slices can do in parallel beyond iterating over their items.
///
/// # Sorts
/// A sort cuts the slice into a few pieces for each worker, sorts these by the sorts of `std`, and
/// merges them in parallel. It takes as much extra memory as the slice. Up to 4096 items and on one
/// worker, it is the sort of `std`.
///
/// A sort panics with a panic of the user's code. If that tells no total order, the order of the
/// items is unspecified. Where a sort of `std` panics over that, its message is printed, and the
/// sort goes on. However it ends, the slice holds each item once.
///
/// ```
/// use sateen::prelude::*;
/// let mut words = ["pear", "apple", "fig"];
/// words.par_sort_by_key(|word| word.len());
/// assert_eq!(words, ["fig", "pear", "apple"]);
/// ```
pub trait ParallelSliceMut<T: Send> {
    /// The slice itself.
    fn as_parallel_slice_mut(&mut self) -> &mut [T];

    /// The parts between the items for which `separator` is true. It is called once for each
    /// item.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [1, 2, 0, 3];
    /// numbers.par_split_mut(|n| *n == 0).for_each(|part| part.fill(9));
    /// assert_eq!(numbers, [9, 9, 0, 9]);
    /// ```
    fn par_split_mut<P>(&mut self, separator: P) -> SplitMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitMut::new(self.as_parallel_slice_mut(), separator)
    }

    /// The parts that end with the items for which `separator` is true. It is called up to twice
    /// for an item.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [1, 2, 0, 3];
    /// numbers.par_split_inclusive_mut(|n| *n == 0).for_each(|part| part.reverse());
    /// assert_eq!(numbers, [0, 2, 1, 3]);
    /// ```
    fn par_split_inclusive_mut<P>(&mut self, separator: P) -> SplitInclusiveMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusiveMut::new(self.as_parallel_slice_mut(), separator)
    }

    /// Mutable chunks of `chunk_size` items, from the first item on.
    /// The last chunk may be shorter.
    ///
    /// # Panics
    /// If `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [1, 2, 3, 4, 5];
    /// numbers.par_chunks_mut(2).for_each(|pair| pair.reverse());
    /// assert_eq!(numbers, [2, 1, 4, 3, 5]);
    /// ```
    #[track_caller]
    fn par_chunks_mut(&mut self, chunk_size: usize) -> ChunksMut<'_, T> {
        ChunksMut::new(self.as_parallel_slice_mut(), chunk_size)
    }

    /// Mutable chunks of exactly `chunk_size` items, from the first item on.
    /// [`into_remainder`](ChunksExactMut::into_remainder) has the items that make no whole chunk.
    ///
    /// # Panics
    /// If `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [1, 2, 3, 4, 5];
    /// numbers.par_chunks_exact_mut(2).for_each(|pair| pair.reverse());
    /// assert_eq!(numbers, [2, 1, 4, 3, 5]);
    /// ```
    #[track_caller]
    fn par_chunks_exact_mut(&mut self, chunk_size: usize) -> ChunksExactMut<'_, T> {
        ChunksExactMut::new(self.as_parallel_slice_mut(), chunk_size)
    }

    /// Mutable chunks of `chunk_size` items, from the last item back.
    /// The last chunk may be shorter.
    ///
    /// # Panics
    /// If `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [1, 2, 3, 4, 5];
    /// numbers.par_rchunks_mut(2).for_each(|pair| pair.reverse());
    /// assert_eq!(numbers, [1, 3, 2, 5, 4]);
    /// ```
    #[track_caller]
    fn par_rchunks_mut(&mut self, chunk_size: usize) -> RChunksMut<'_, T> {
        RChunksMut::new(self.as_parallel_slice_mut(), chunk_size)
    }

    /// Mutable chunks of exactly `chunk_size` items, from the last item back.
    /// [`into_remainder`](RChunksExactMut::into_remainder) has the items that make no whole chunk.
    ///
    /// # Panics
    /// If `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [1, 2, 3, 4, 5];
    /// numbers.par_rchunks_exact_mut(2).for_each(|pair| pair.reverse());
    /// assert_eq!(numbers, [1, 3, 2, 5, 4]);
    /// ```
    #[track_caller]
    fn par_rchunks_exact_mut(&mut self, chunk_size: usize) -> RChunksExactMut<'_, T> {
        RChunksExactMut::new(self.as_parallel_slice_mut(), chunk_size)
    }

    /// Mutable parts of adjacent items that belong together: a part ends where `pred` is false for
    /// an item and the next one. It is called once for each pair.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [1, 1, 2];
    /// numbers.par_chunk_by_mut(|a, b| a == b).for_each(|part| part[0] = 0);
    /// assert_eq!(numbers, [0, 1, 0]);
    /// ```
    fn par_chunk_by_mut<F>(&mut self, pred: F) -> ChunkByMut<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkByMut::new(self.as_parallel_slice_mut(), pred)
    }

    /// Sorts the items. Equal items keep their order.
    ///
    /// # Panics
    /// With a panic of the user's code; the slice then holds each item once, in some order.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [3, 1, 2];
    /// numbers.par_sort();
    /// assert_eq!(numbers, [1, 2, 3]);
    /// ```
    fn par_sort(&mut self)
    where
        T: Ord,
    {
        sort::natural(self.as_parallel_slice_mut());
    }

    /// Sorts the items by `compare`. Equal items keep their order.
    ///
    /// # Panics
    /// With a panic of the user's code; the slice then holds each item once, in some order.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [3, 1, 2];
    /// numbers.par_sort_by(|a, b| b.cmp(a));
    /// assert_eq!(numbers, [3, 2, 1]);
    /// ```
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort::by(self.as_parallel_slice_mut(), &compare);
    }

    /// Sorts the items by their keys, which `f` makes anew for each comparison.
    /// Equal items keep their order.
    ///
    /// # Panics
    /// With a panic of the user's code; the slice then holds each item once, in some order.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [3i32, -1, 2];
    /// numbers.par_sort_by_key(|n| n.abs());
    /// assert_eq!(numbers, [-1, 2, 3]);
    /// ```
    fn par_sort_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort::by(self.as_parallel_slice_mut(), &sort::keys(&f));
    }

    /// Sorts the items by their keys, which `f` makes once for each item. Equal items keep their
    /// order.
    ///
    /// Takes memory for a key and an index of each item. Worth it if keys are costly to make.
    ///
    /// # Panics
    /// With a panic of the user's code; the slice then holds each item once, in some order.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [3, 10, 2];
    /// numbers.par_sort_by_cached_key(|n| n.to_string());
    /// assert_eq!(numbers, [10, 2, 3]);
    /// ```
    fn par_sort_by_cached_key<K, F>(&mut self, f: F)
    where
        F: Fn(&T) -> K + Sync,
        K: Ord + Send,
    {
        sort::by_cached_key(self.as_parallel_slice_mut(), &f);
    }

    /// Sorts the items. Equal items may change places. Faster than the stable
    /// sort on most data.
    ///
    /// # Panics
    /// With a panic of the user's code; the slice then holds each item once, in some order.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [3, 1, 2];
    /// numbers.par_sort_unstable();
    /// assert_eq!(numbers, [1, 2, 3]);
    /// ```
    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        sort::natural_unstable(self.as_parallel_slice_mut());
    }

    /// Sorts the items by `compare`. Equal items may change places.
    ///
    /// # Panics
    /// With a panic of the user's code; the slice then holds each item once, in some order.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [3, 1, 2];
    /// numbers.par_sort_unstable_by(|a, b| b.cmp(a));
    /// assert_eq!(numbers, [3, 2, 1]);
    /// ```
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort::by_unstable(self.as_parallel_slice_mut(), &compare);
    }

    /// Sorts the items by their keys, which `f` makes anew for each comparison.
    /// Equal items may change places.
    ///
    /// # Panics
    /// With a panic of the user's code; the slice then holds each item once, in some order.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [3i32, -1, 2];
    /// numbers.par_sort_unstable_by_key(|n| n.abs());
    /// assert_eq!(numbers, [-1, 2, 3]);
    /// ```
    fn par_sort_unstable_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort::by_unstable(self.as_parallel_slice_mut(), &sort::keys(&f));
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    #[inline]
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}
