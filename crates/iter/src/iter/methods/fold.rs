//! Folds: a value for each piece.

macro_rules! fold {
    () => {
        /// Folds the items of each piece into a value that begins as `identity()`. Passes on one
        /// value a piece; how many there are is unspecified.
        ///
        /// In a source with a length, a piece usually ends only where another worker takes over. So
        /// a value may be costly to make. Before an end that may have enough, as
        /// [`find_any`](Self::find_any), pieces end more often.
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

        /// [`fold`](Self::fold) that stops a piece at `Err` or `None`, which is its item then.
        /// Other pieces go on. An end such as [`try_reduce`](Self::try_reduce) stops them.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let add = |sum: u8, n: u8| sum.checked_add(n);
        /// let total = |end: u8| {
        ///     (0..end).into_par_iter().try_fold(|| 0, add).try_reduce(|| 0, |a, b| add(a, b))
        /// };
        /// assert_eq!(total(10), Some(45));
        /// assert_eq!(total(99), None);
        /// ```
        fn try_fold<T, R, ID, F>(self, identity: ID, fold_op: F) -> TryFold<Self, R, ID, F>
        where
            F: Fn(T, Self::Item) -> R + Sync + Send,
            ID: Fn() -> T + Sync + Send,
            R: Try<Output = T> + Send,
        {
            TryFold::new(self, identity, fold_op)
        }

        /// [`try_fold`](Self::try_fold) with clones of `init` for identities.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let add = |sum: u8, n| sum.checked_add(n);
        /// let pieces = (0..10u8).into_par_iter().try_fold_with(0, add);
        /// assert_eq!(pieces.map(|sum| sum.unwrap()).sum::<u8>(), 45);
        /// ```
        fn try_fold_with<F, T, R>(self, init: T, fold_op: F) -> TryFoldWith<Self, R, F>
        where
            F: Fn(T, Self::Item) -> R + Sync + Send,
            R: Try<Output = T> + Send,
            T: Clone + Send,
        {
            TryFoldWith::new(self, init, fold_op)
        }
    };
}
pub(crate) use fold;
