//! Ends that make a collection.

macro_rules! collect {
    () => {
        /// Collects the items, in their order where the collection has one.
        ///
        /// If the number of items is known, each worker writes to its places in the vector at once.
        /// Otherwise each piece makes a vector, and these are appended to the first.
        ///
        /// # Panics
        /// If the iterator yields more or fewer items than it said.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let squares: Vec<_> = (0..4).into_par_iter().map(|n| n * n).collect();
        /// assert_eq!(squares, [0, 1, 4, 9]);
        /// ```
        fn collect<C>(self) -> C
        where
            C: FromParallelIterator<Self::Item>,
        {
            C::from_par_iter(self)
        }
    };
}
pub(crate) use collect;

macro_rules! collect_indexed {
    () => {
        /// Collects the items into `target`, whose own are dropped first. Its memory is used again.
        ///
        /// # Panics
        /// If the iterator yields more or fewer items than it said. `target` is empty then.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let mut numbers = vec![7; 7];
        /// (0..3).into_par_iter().collect_into_vec(&mut numbers);
        /// assert_eq!(numbers, [0, 1, 2]);
        /// ```
        fn collect_into_vec(self, target: &mut Vec<Self::Item>) {
            collect::collect_into_vec(self, target);
        }
    };
}
pub(crate) use collect_indexed;
