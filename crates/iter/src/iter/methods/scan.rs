//! Ends that join each item with all items before it.

macro_rules! scan {
    () => {
        /// Joins each item with all items before it: result `i` is that of items `0..=i`.
        ///
        /// `op` must be associative; it need not be commutative, since the order is kept. Another
        /// operation gives results that depend on where pieces begin. Floating-point sums may
        /// differ in the last digits from call to call.
        ///
        /// # Cost
        /// Less than two calls of `op` for each item, and one if no other worker helps. Results
        /// are written to their places. Items of unknown number are collected first. No item is
        /// cloned.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let sums = [1, 2, 3, 4].par_iter().copied().inclusive_scan(|a, b| a + b);
        /// assert_eq!(sums, [1, 3, 6, 10]);
        /// ```
        fn inclusive_scan<OP>(self, op: OP) -> Vec<Self::Item>
        where
            OP: Fn(&Self::Item, &Self::Item) -> Self::Item + Sync + Send,
            Self::Item: Sync,
        {
            scan::inclusive(self, &op)
        }

        /// Joins all items before each item: result `i` is that of items `0..i`. So the first is
        /// `identity()`, and the last item has no effect.
        ///
        /// `op` must be associative, as for [`inclusive_scan`](Self::inclusive_scan). Joined with
        /// `identity()`, a value must stay the same: it begins each piece.
        ///
        /// # Cost
        /// About two calls of `op` for each item, and one if no other worker helps.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// // Where each word begins in the joined text.
        /// let words = ["fork", "or", "join"];
        /// let starts = words.par_iter().map(|w| w.len()).exclusive_scan(|| 0, |a, b| a + b);
        /// assert_eq!(starts, [0, 4, 6]);
        /// ```
        fn exclusive_scan<OP, ID>(self, identity: ID, op: OP) -> Vec<Self::Item>
        where
            OP: Fn(&Self::Item, &Self::Item) -> Self::Item + Sync + Send,
            ID: Fn() -> Self::Item + Sync + Send,
            Self::Item: Sync,
        {
            scan::exclusive(self, &identity, &op)
        }
    };
}
pub(crate) use scan;
