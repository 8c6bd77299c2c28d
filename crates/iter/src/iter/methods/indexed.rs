//! Adapters that need to know where items are, and how pieces are cut.

macro_rules! place {
    () => {
        /// Pairs each item with the item of `zip_op` at the same place, until one has no more.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let sums: Vec<_> = [1, 2].par_iter().zip(&[10, 20]).map(|(a, b)| a + b).collect();
        /// assert_eq!(sums, [11, 22]);
        /// ```
        fn zip<Z>(self, zip_op: Z) -> Zip<Self, Z::Iter>
        where
            Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
        {
            Zip::new(self, zip_op.into_par_iter())
        }

        /// Pairs each item with its index.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let last = ['x', 'y'].par_iter().enumerate().find_last(|_| true);
        /// assert_eq!(last, Some((1, &'y')));
        /// ```
        fn enumerate(self) -> Enumerate<Self> {
            Enumerate::new(self)
        }

        /// The items from the last to the first.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((0..3).into_par_iter().rev().collect::<Vec<_>>(), [2, 1, 0]);
        /// ```
        fn rev(self) -> Rev<Self> {
            Rev::new(self)
        }
    };
}
pub(crate) use place;

macro_rules! cut {
    () => {
        /// Lets no piece have fewer than `min` items, unless there are fewer. Rarely needed: pieces
        /// are cut by time.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let sum: i32 = (0..1000).into_par_iter().with_min_len(100).sum();
        /// assert_eq!(sum, 499_500);
        /// ```
        fn with_min_len(self, min: usize) -> MinLen<Self> {
            MinLen::new(self, min)
        }

        /// Lets no piece have more than `max` items: so often [`fold`](ParallelIterator::fold) and
        /// [`map_init`](ParallelIterator::map_init) begin anew. A larger least length wins.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let pieces = (0..100).into_par_iter().with_max_len(10).fold(|| (), |(), _| ()).count();
        /// assert!(pieces >= 10);
        /// ```
        fn with_max_len(self, max: usize) -> MaxLen<Self> {
            MaxLen::new(self, max)
        }
    };
}
pub(crate) use cut;
