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

        /// [`zip`](Self::zip) with an iterator of as many items.
        ///
        /// # Panics
        /// At once, if it has more or fewer.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let products = [1, 2].par_iter().zip_eq(&[3, 4]).map(|(a, b)| a * b);
        /// assert_eq!(products.sum::<i32>(), 11);
        /// ```
        fn zip_eq<Z>(self, zip_op: Z) -> ZipEq<Self, Z::Iter>
        where
            Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
        {
            ZipEq::new(self, zip_op.into_par_iter())
        }

        /// Items of this and of `other` in turn. When one has none left, those of the other follow.
        ///
        /// # Panics
        /// When it is driven, if there are more than `usize::MAX`.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let all: Vec<_> = [1, 2].into_par_iter().interleave([7, 8, 9]).collect();
        /// assert_eq!(all, [1, 7, 2, 8, 9]);
        /// ```
        fn interleave<I>(self, other: I) -> Interleave<Self, I::Iter>
        where
            I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
        {
            Interleave::new(self, other.into_par_iter())
        }

        /// Items of this and of `other` in turn, until it is the turn of one that has none left.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let all: Vec<_> = [1, 2].into_par_iter().interleave_shortest([7, 8, 9]).collect();
        /// assert_eq!(all, [1, 7, 2, 8]);
        /// ```
        fn interleave_shortest<I>(self, other: I) -> InterleaveShortest<Self, I::Iter>
        where
            I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
        {
            InterleaveShortest::new(self, other.into_par_iter())
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

        /// All items but the first `n`. These are made, too, and dropped.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((0..5).into_par_iter().skip(3).collect::<Vec<_>>(), [3, 4]);
        /// ```
        fn skip(self, n: usize) -> Skip<Self> {
            Skip::new(self, n)
        }

        /// The first `n` items. No others are made.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((0..5).into_par_iter().take(2).collect::<Vec<_>>(), [0, 1]);
        /// ```
        fn take(self, n: usize) -> Take<Self> {
            Take::new(self, n)
        }

        /// The first item, and then every `step`th.
        ///
        /// # Panics
        /// At once, if `step` is 0.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((0..10).into_par_iter().step_by(4).collect::<Vec<_>>(), [0, 4, 8]);
        /// ```
        fn step_by(self, step: usize) -> StepBy<Self> {
            StepBy::new(self, step)
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

        /// Works off one block of items after the other, each in parallel and twice as large as the
        /// one before. The first has an item for each worker. A search that finds an early item
        /// looks at few others.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let blocks = (0..1usize << 40).into_par_iter().by_exponential_blocks();
        /// assert_eq!(blocks.find_any(|n| *n == 1000), Some(1000));
        /// ```
        fn by_exponential_blocks(self) -> ExponentialBlocks<Self> {
            ExponentialBlocks::new(self)
        }

        /// Works off one block of `block_size` items after the other, each in parallel.
        ///
        /// # Panics
        /// At once, if `block_size` is 0.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let blocks = (0..1000).into_par_iter().by_uniform_blocks(100);
        /// assert_eq!(blocks.find_any(|n| n % 100 == 99), Some(99));
        /// ```
        #[track_caller]
        fn by_uniform_blocks(self, block_size: usize) -> UniformBlocks<Self> {
            UniformBlocks::new(self, block_size)
        }
    };
}
pub(crate) use cut;
