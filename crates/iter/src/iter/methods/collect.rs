//! Ends that make a collection.

macro_rules! collect {
    () => {
        /// Collects the first halves of pairs into one collection, and the second halves into
        /// another.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let pairs = (0..3).into_par_iter().map(|n| (n, n * n));
        /// let (roots, squares): (Vec<_>, Vec<_>) = pairs.unzip();
        /// assert_eq!(roots, [0, 1, 2]);
        /// assert_eq!(squares, [0, 1, 4]);
        /// ```
        fn unzip<A, B, FromA, FromB>(self) -> (FromA, FromB)
        where
            Self: ParallelIterator<Item = (A, B)>,
            FromA: Default + Send + ParallelExtend<A>,
            FromB: Default + Send + ParallelExtend<B>,
            A: Send,
            B: Send,
        {
            unzip::unzip(self)
        }

        /// Collects the items that `predicate` wants into one collection, and the others into
        /// another.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let (even, odd): (Vec<_>, Vec<_>) = (0..5).into_par_iter().partition(|n| n % 2 == 0);
        /// assert_eq!(even, [0, 2, 4]);
        /// assert_eq!(odd, [1, 3]);
        /// ```
        fn partition<A, B, P>(self, predicate: P) -> (A, B)
        where
            A: Default + Send + ParallelExtend<Self::Item>,
            B: Default + Send + ParallelExtend<Self::Item>,
            P: Fn(&Self::Item) -> bool + Sync + Send,
        {
            unzip::partition(self, &predicate)
        }

        /// Passes each item through `predicate`, and collects what is `Left` into one collection
        /// and what is `Right` into another.
        ///
        /// ```
        /// use sateen::iter::Either;
        /// use sateen::prelude::*;
        /// let parse = |word: &&str| match word.parse::<u8>() {
        ///     Ok(number) => Either::Left(number),
        ///     Err(_) => Either::Right(word.len()),
        /// };
        /// let words = ["1", "two", "3"];
        /// let (numbers, lengths): (Vec<_>, Vec<_>) = words.par_iter().partition_map(parse);
        /// assert_eq!(numbers, [1, 3]);
        /// assert_eq!(lengths, [3]);
        /// ```
        fn partition_map<A, B, P, L, R>(self, predicate: P) -> (A, B)
        where
            A: Default + Send + ParallelExtend<L>,
            B: Default + Send + ParallelExtend<R>,
            P: Fn(Self::Item) -> Either<L, R> + Sync + Send,
            L: Send,
            R: Send,
        {
            unzip::partition_map(self, predicate)
        }

        /// Collects the items of each piece into a vector, and these into a list. No item is moved
        /// again, and no vector is empty.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let list = (0..100).into_par_iter().filter(|n| n % 2 == 0).collect_vec_list();
        /// assert_eq!(list.into_iter().flatten().count(), 50);
        /// ```
        fn collect_vec_list(self) -> LinkedList<Vec<Self::Item>> {
            collect::collect_unknown(self).into_lists()
        }
    };
}
pub(crate) use collect;
