//! Ends that join all items into one value.

macro_rules! reduce {
    () => {
        /// Joins all items by `op`, which must be associative. `identity()` begins each piece, and
        /// is the result if there are no items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let longest = ["a", "ccc", "bb"].par_iter().copied().reduce(
        ///     || "",
        ///     |a, b| if b.len() > a.len() { b } else { a },
        /// );
        /// assert_eq!(longest, "ccc");
        /// ```
        fn reduce<OP, ID>(self, identity: ID, op: OP) -> Self::Item
        where
            OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
            ID: Fn() -> Self::Item + Sync + Send,
        {
            reduce::reduce(self, &identity, &op)
        }

        /// Joins all items by `op`, which must be associative. `None` if there are no items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((1..5).into_par_iter().reduce_with(|a, b| a * b), Some(24));
        /// ```
        fn reduce_with<OP>(self, op: OP) -> Option<Self::Item>
        where
            OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
        {
            reduce::reduce_with(self, &op)
        }

        /// [`reduce`](Self::reduce) of what `Ok` or `Some` hold, until there is an `Err` or a
        /// `None`. Returns one of these.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let add = |a: u8, b: u8| a.checked_add(b);
        /// assert_eq!((0..10u8).into_par_iter().map(Some).try_reduce(|| 0, add), Some(45));
        /// assert_eq!((0..99u8).into_par_iter().map(Some).try_reduce(|| 0, add), None);
        /// ```
        fn try_reduce<T, OP, ID>(self, identity: ID, op: OP) -> Self::Item
        where
            OP: Fn(T, T) -> Self::Item + Sync + Send,
            ID: Fn() -> T + Sync + Send,
            Self::Item: Try<Output = T>,
        {
            try_reduce::try_reduce(self, &identity, &op)
        }

        /// [`try_reduce`](Self::try_reduce) without an identity. `None` if there are no items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let add = |a: u8, b: u8| a.checked_add(b);
        /// let sum = (0..10u8).into_par_iter().map(Some).try_reduce_with(add);
        /// assert_eq!(sum, Some(Some(45)));
        /// ```
        fn try_reduce_with<T, OP>(self, op: OP) -> Option<Self::Item>
        where
            OP: Fn(T, T) -> Self::Item + Sync + Send,
            Self::Item: Try<Output = T>,
        {
            try_reduce::try_reduce_with(self, &op)
        }

        /// The sum of the items. Floating-point sums may differ in the last digits from call to
        /// call, since they depend on how the items are grouped.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!([1u64, 2, 3].par_iter().sum::<u64>(), 6);
        /// ```
        fn sum<S>(self) -> S
        where
            S: Send + Sum<Self::Item> + Sum<S>,
        {
            sum::sum(self)
        }

        /// The product of the items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((1..6u32).into_par_iter().product::<u32>(), 120);
        /// ```
        fn product<P>(self) -> P
        where
            P: Send + Product<Self::Item> + Product<P>,
        {
            sum::product(self)
        }

        /// The number of items. They are all made.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((0..10).into_par_iter().filter(|n| n % 3 == 0).count(), 4);
        /// ```
        fn count(self) -> usize {
            self.map(|_| 1).sum()
        }
    };
}
pub(crate) use reduce;
