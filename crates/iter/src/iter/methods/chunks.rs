//! Adapters that make one item of several.

macro_rules! chunks {
    () => {
        /// Vectors of `chunk_size` items each. The last has what is left.
        ///
        /// # Panics
        /// At once, if `chunk_size` is 0.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let chunks: Vec<_> = (0..5).into_par_iter().chunks(2).collect();
        /// assert_eq!(chunks, [vec![0, 1], vec![2, 3], vec![4]]);
        /// ```
        #[track_caller]
        fn chunks(self, chunk_size: usize) -> Chunks<Self> {
            Chunks::new(self, chunk_size)
        }

        /// Folds each `chunk_size` items into one. Unlike those of
        /// [`fold`](ParallelIterator::fold), these pieces are the same in each call.
        ///
        /// # Panics
        /// At once, if `chunk_size` is 0.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let sums: Vec<_> = (0..5).into_par_iter().fold_chunks(2, || 0, |a, b| a + b).collect();
        /// assert_eq!(sums, [1, 5, 4]);
        /// ```
        #[track_caller]
        fn fold_chunks<T, ID, F>(
            self,
            chunk_size: usize,
            identity: ID,
            fold_op: F,
        ) -> FoldChunks<Self, ID, F>
        where
            ID: Fn() -> T + Send + Sync,
            F: Fn(T, Self::Item) -> T + Send + Sync,
            T: Send,
        {
            FoldChunks::new(self, chunk_size, identity, fold_op)
        }

        /// [`fold_chunks`](Self::fold_chunks) with clones of `init` for identities.
        ///
        /// # Panics
        /// At once, if `chunk_size` is 0.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let sums = (0..5).into_par_iter().fold_chunks_with(2, 10, |a, b| a + b);
        /// assert_eq!(sums.collect::<Vec<_>>(), [11, 15, 14]);
        /// ```
        #[track_caller]
        fn fold_chunks_with<T, F>(
            self,
            chunk_size: usize,
            init: T,
            fold_op: F,
        ) -> FoldChunksWith<Self, T, F>
        where
            T: Send + Clone,
            F: Fn(T, Self::Item) -> T + Send + Sync,
        {
            FoldChunksWith::new(self, chunk_size, init, fold_op)
        }
    };
}
pub(crate) use chunks;
