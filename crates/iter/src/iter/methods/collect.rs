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

        /// Collects pairs into two vectors, whose own items are dropped first. Their memory is used
        /// again.
        ///
        /// # Panics
        /// If the iterator yields more or fewer items than it said. Both are empty then.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let (mut roots, mut squares) = (vec![7], vec![]);
        /// let pairs = (0..3).into_par_iter().map(|n| (n, n * n));
        /// pairs.unzip_into_vecs(&mut roots, &mut squares);
        /// assert_eq!((roots, squares), (vec![0, 1, 2], vec![0, 1, 4]));
        /// ```
        fn unzip_into_vecs<A, B>(self, left: &mut Vec<A>, right: &mut Vec<B>)
        where
            Self: IndexedParallelIterator<Item = (A, B)>,
            A: Send,
            B: Send,
        {
            collect::unzip::unzip_into_vecs(self, left, right);
        }
    };
}
pub(crate) use collect_indexed;
