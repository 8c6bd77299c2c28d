//! Adapters that make several items of one.

macro_rules! flatten {
    () => {
        /// Makes a parallel iterator of each item, and passes on their items.
        ///
        /// For short ones [`flat_map_iter`](Self::flat_map_iter) is cheaper.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let all: Vec<_> = (1..4).into_par_iter().flat_map(|n| 0..n).collect();
        /// assert_eq!(all, [0, 0, 1, 0, 1, 2]);
        /// ```
        fn flat_map<F, PI>(self, map_op: F) -> FlatMap<Self, F>
        where
            F: Fn(Self::Item) -> PI + Sync + Send,
            PI: IntoParallelIterator,
        {
            FlatMap::new(self, map_op)
        }

        /// Makes a sequential iterator of each item, and passes on their items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let letters: String = ["ab", "c"].par_iter().flat_map_iter(|word| word.chars()).fold(
        ///     String::new,
        ///     |mut all, letter| {
        ///         all.push(letter);
        ///         all
        ///     },
        /// ).reduce(String::new, |a, b| a + &b);
        /// assert_eq!(letters, "abc");
        /// ```
        fn flat_map_iter<F, SI>(self, map_op: F) -> FlatMapIter<Self, F>
        where
            F: Fn(Self::Item) -> SI + Sync + Send,
            SI: IntoIterator<Item: Send>,
        {
            FlatMapIter::new(self, map_op)
        }

        /// Passes on the items of the items, which become parallel iterators.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let all: Vec<_> = vec![vec![1, 2], vec![3]].into_par_iter().flatten().collect();
        /// assert_eq!(all, [1, 2, 3]);
        /// ```
        fn flatten(self) -> Flatten<Self>
        where
            Self::Item: IntoParallelIterator,
        {
            Flatten::new(self)
        }

        /// Passes on the items of the items, which become sequential iterators.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let all: Vec<_> = vec![Some(1), None, Some(3)].into_par_iter().flatten_iter().collect();
        /// assert_eq!(all, [1, 3]);
        /// ```
        fn flatten_iter(self) -> FlattenIter<Self>
        where
            Self::Item: IntoIterator<Item: Send>,
        {
            FlattenIter::new(self)
        }
    };
}
pub(crate) use flatten;
