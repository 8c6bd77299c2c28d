//! Folds: a value for each piece.

macro_rules! fold {
    () => {
        /// Folds the items of each piece into a value that begins as `identity()`. Passes on one
        /// value a piece; how many there are is unspecified.
        ///
        /// A piece ends only where another worker takes over, so a value may be costly to make.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let evens = (0..100)
        ///     .into_par_iter()
        ///     .fold(|| 0, |count, n| count + usize::from(n % 2 == 0))
        ///     .sum::<usize>();
        /// assert_eq!(evens, 50);
        /// ```
        fn fold<T, ID, F>(self, identity: ID, fold_op: F) -> Fold<Self, ID, F>
        where
            F: Fn(T, Self::Item) -> T + Sync + Send,
            ID: Fn() -> T + Sync + Send,
            T: Send,
        {
            Fold::new(self, identity, fold_op)
        }

        /// [`fold`](Self::fold) with clones of `init` for identities.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let sum: i32 = (0..10).into_par_iter().fold_with(0, |sum, n| sum + n).sum();
        /// assert_eq!(sum, 45);
        /// ```
        fn fold_with<F, T>(self, init: T, fold_op: F) -> FoldWith<Self, T, F>
        where
            F: Fn(T, Self::Item) -> T + Sync + Send,
            T: Send + Clone,
        {
            FoldWith::new(self, init, fold_op)
        }
    };
}
pub(crate) use fold;
