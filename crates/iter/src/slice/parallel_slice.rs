//! What slices can do in parallel.

use super::{
    ArrayWindows, ChunkBy, Chunks, ChunksExact, RChunks, RChunksExact, Split, SplitInclusive,
    Windows,
};

/// What slices can do in parallel beyond iterating over their items.
///
/// ```
/// use sateen::prelude::*;
/// let rising = [1, 2, 5, 3].par_windows(2).filter(|pair| pair[0] < pair[1]).count();
/// assert_eq!(rising, 2);
/// ```
pub trait ParallelSlice<T: Sync> {
    /// The slice itself.
    fn as_parallel_slice(&self) -> &[T];

    /// The parts between the items for which `separator` is true. It is called once for each
    /// item.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let parts: Vec<_> = [1, 2, 0, 3, 0].par_split(|n| *n == 0).collect();
    /// assert_eq!(parts, [&[1, 2][..], &[3], &[]]);
    /// ```
    fn par_split<P>(&self, separator: P) -> Split<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        Split::new(self.as_parallel_slice(), separator)
    }

    /// The parts that end with the items for which `separator` is true. It is called up to twice
    /// for an item.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let parts: Vec<_> = [1, 2, 0, 3].par_split_inclusive(|n| *n == 0).collect();
    /// assert_eq!(parts, [&[1, 2, 0][..], &[3]]);
    /// ```
    fn par_split_inclusive<P>(&self, separator: P) -> SplitInclusive<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusive::new(self.as_parallel_slice(), separator)
    }

    /// All windows of `window_size` adjacent items. They overlap.
    ///
    /// # Panics
    /// If `window_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sums: Vec<i32> = [1, 2, 3].par_windows(2).map(|pair| pair.iter().sum()).collect();
    /// assert_eq!(sums, [3, 5]);
    /// ```
    #[track_caller]
    fn par_windows(&self, window_size: usize) -> Windows<'_, T> {
        Windows::new(self.as_parallel_slice(), window_size)
    }

    /// [`par_windows`](Self::par_windows) of `N` items, as arrays. Windows of 0 items do not
    /// compile.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let steps: Vec<_> = [1, 2, 5].par_array_windows().map(|[a, b]| b - a).collect();
    /// assert_eq!(steps, [1, 3]);
    /// ```
    fn par_array_windows<const N: usize>(&self) -> ArrayWindows<'_, T, N> {
        ArrayWindows::new(self.as_parallel_slice())
    }

    /// Chunks of `chunk_size` items, from the first item on. The last chunk may be shorter.
    ///
    /// # Panics
    /// If `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let pairs: Vec<_> = [1, 2, 3, 4, 5].par_chunks(2).collect();
    /// assert_eq!(pairs, [&[1, 2][..], &[3, 4], &[5]]);
    /// ```
    #[track_caller]
    fn par_chunks(&self, chunk_size: usize) -> Chunks<'_, T> {
        Chunks::new(self.as_parallel_slice(), chunk_size)
    }

    /// Chunks of exactly `chunk_size` items, from the first item on.
    /// [`remainder`](ChunksExact::remainder) has the items that make no whole chunk.
    ///
    /// # Panics
    /// If `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let pairs: Vec<_> = [1, 2, 3, 4, 5].par_chunks_exact(2).collect();
    /// assert_eq!(pairs, [[1, 2], [3, 4]]);
    /// ```
    #[track_caller]
    fn par_chunks_exact(&self, chunk_size: usize) -> ChunksExact<'_, T> {
        ChunksExact::new(self.as_parallel_slice(), chunk_size)
    }

    /// Chunks of `chunk_size` items, from the last item back. The last chunk may be shorter.
    ///
    /// # Panics
    /// If `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let pairs: Vec<_> = [1, 2, 3, 4, 5].par_rchunks(2).collect();
    /// assert_eq!(pairs, [&[4, 5][..], &[2, 3], &[1]]);
    /// ```
    #[track_caller]
    fn par_rchunks(&self, chunk_size: usize) -> RChunks<'_, T> {
        RChunks::new(self.as_parallel_slice(), chunk_size)
    }

    /// Chunks of exactly `chunk_size` items, from the last item back.
    /// [`remainder`](RChunksExact::remainder) has the items that make no whole chunk.
    ///
    /// # Panics
    /// If `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let pairs: Vec<_> = [1, 2, 3, 4, 5].par_rchunks_exact(2).collect();
    /// assert_eq!(pairs, [[4, 5], [2, 3]]);
    /// ```
    #[track_caller]
    fn par_rchunks_exact(&self, chunk_size: usize) -> RChunksExact<'_, T> {
        RChunksExact::new(self.as_parallel_slice(), chunk_size)
    }

    /// Parts of adjacent items that belong together: a part ends where `pred` is false for an item
    /// and the next one. It is called once for each pair.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let runs: Vec<_> = [1, 1, 2, 3, 3].par_chunk_by(|a, b| a == b).collect();
    /// assert_eq!(runs, [&[1, 1][..], &[2], &[3, 3]]);
    /// ```
    fn par_chunk_by<F>(&self, pred: F) -> ChunkBy<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkBy::new(self.as_parallel_slice(), pred)
    }
}

impl<T: Sync> ParallelSlice<T> for [T] {
    #[inline]
    fn as_parallel_slice(&self) -> &[T] {
        self
    }
}
