//! Adapters that treat each item by itself, and chains.

macro_rules! adapt {
    () => {
        /// Passes each item through `map_op`.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let doubled: Vec<_> = (0..4).into_par_iter().map(|n| 2 * n).collect();
        /// assert_eq!(doubled, [0, 2, 4, 6]);
        /// ```
        fn map<F, R>(self, map_op: F) -> Map<Self, F>
        where
            F: Fn(Self::Item) -> R + Sync + Send,
            R: Send,
        {
            Map::new(self, map_op)
        }

        /// Passes a clone of `init` and each item through `map_op`. A piece has one clone.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let sizes: Vec<_> = (1..4)
        ///     .into_par_iter()
        ///     .map_with(vec![0; 8], |buffer, n| buffer[..n].len())
        ///     .collect();
        /// assert_eq!(sizes, [1, 2, 3]);
        /// ```
        fn map_with<F, T, R>(self, init: T, map_op: F) -> MapWith<Self, T, F>
        where
            F: Fn(&mut T, Self::Item) -> R + Sync + Send,
            T: Send + Clone,
            R: Send,
        {
            MapWith::new(self, init, map_op)
        }

        /// Passes a value of `init` and each item through `map_op`. A piece has one value, which
        /// need not be `Send`.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let words: Vec<_> = (0..3)
        ///     .into_par_iter()
        ///     .map_init(String::new, |line, n| {
        ///         line.clear();
        ///         line.push_str(&n.to_string());
        ///         line.clone()
        ///     })
        ///     .collect();
        /// assert_eq!(words, ["0", "1", "2"]);
        /// ```
        fn map_init<F, INIT, T, R>(self, init: INIT, map_op: F) -> MapInit<Self, INIT, F>
        where
            F: Fn(&mut T, Self::Item) -> R + Sync + Send,
            INIT: Fn() -> T + Sync + Send,
            R: Send,
        {
            MapInit::new(self, init, map_op)
        }

        /// Clones each item out of its reference.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let words = ["a".to_owned(), "b".to_owned()];
        /// assert_eq!(words.par_iter().cloned().collect::<Vec<String>>(), words);
        /// ```
        fn cloned<'a, T>(self) -> Cloned<Self>
        where
            T: 'a + Clone + Send,
            Self: ParallelIterator<Item = &'a T>,
        {
            Cloned::new(self)
        }

        /// Copies each item out of its reference.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!([3, 1, 2].par_iter().copied().max(), Some(3));
        /// ```
        fn copied<'a, T>(self) -> Copied<Self>
        where
            T: 'a + Copy + Send,
            Self: ParallelIterator<Item = &'a T>,
        {
            Copied::new(self)
        }

        /// Shows each item to `inspect_op` as it passes.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let sum: i32 = (0..4).into_par_iter().inspect(|n| assert!(*n < 4)).sum();
        /// assert_eq!(sum, 6);
        /// ```
        fn inspect<OP>(self, inspect_op: OP) -> Inspect<Self, OP>
        where
            OP: Fn(&Self::Item) + Sync + Send,
        {
            Inspect::new(self, inspect_op)
        }

        /// Lets `update_op` change each item as it passes.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let words = ["a", "b"].into_par_iter().map(str::to_owned);
        /// let longer: Vec<_> = words.update(|word| word.push('!')).collect();
        /// assert_eq!(longer, ["a!", "b!"]);
        /// ```
        fn update<F>(self, update_op: F) -> Update<Self, F>
        where
            F: Fn(&mut Self::Item) + Sync + Send,
        {
            Update::new(self, update_op)
        }

        /// Keeps the items that `filter_op` wants.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let even: Vec<_> = (0..5).into_par_iter().filter(|n| n % 2 == 0).collect();
        /// assert_eq!(even, [0, 2, 4]);
        /// ```
        fn filter<P>(self, filter_op: P) -> Filter<Self, P>
        where
            P: Fn(&Self::Item) -> bool + Sync + Send,
        {
            Filter::new(self, filter_op)
        }

        /// Passes each item through `filter_op`, and keeps what is `Some`.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let numbers: Vec<u8> =
        ///     ["1", "x", "3"].par_iter().filter_map(|word| word.parse().ok()).collect();
        /// assert_eq!(numbers, [1, 3]);
        /// ```
        fn filter_map<P, R>(self, filter_op: P) -> FilterMap<Self, P>
        where
            P: Fn(Self::Item) -> Option<R> + Sync + Send,
            R: Send,
        {
            FilterMap::new(self, filter_op)
        }

        /// Puts a clone of `element` between each two items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let row: Vec<_> = (1..4).into_par_iter().intersperse(0).collect();
        /// assert_eq!(row, [1, 0, 2, 0, 3]);
        /// ```
        fn intersperse(self, element: Self::Item) -> Intersperse<Self>
        where
            Self::Item: Clone,
        {
            Intersperse::new(self, element)
        }

        /// Lets the items of `chain` follow.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let all: Vec<_> = (0..2).into_par_iter().chain([7, 8]).collect();
        /// assert_eq!(all, [0, 1, 7, 8]);
        /// ```
        fn chain<C>(self, chain: C) -> Chain<Self, C::Iter>
        where
            C: IntoParallelIterator<Item = Self::Item>,
        {
            Chain::new(self, chain.into_par_iter())
        }
    };
}
pub(crate) use adapt;
