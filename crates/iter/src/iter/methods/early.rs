//! Adapters that end early, or begin late, with what comes first in time.

macro_rules! early {
    () => {
        /// What the items hold, until one is `None`. Items beyond that may still pass, if another
        /// worker has them.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let small = |n: u32| (n < 5).then_some(n);
        /// let some: Vec<_> = (0..100).into_par_iter().map(small).while_some().collect();
        /// assert!(some.iter().all(|n| *n < 5));
        /// assert_eq!((0..5).into_par_iter().map(small).while_some().count(), 5);
        /// ```
        fn while_some<T>(self) -> WhileSome<Self>
        where
            Self: ParallelIterator<Item = Option<T>>,
            T: Send,
        {
            WhileSome::new(self)
        }

        /// Lets all pieces end soon after a panic in one, instead of working on.
        ///
        /// ```should_panic
        /// use sateen::prelude::*;
        /// (0..1u64 << 60).into_par_iter().panic_fuse().for_each(|n| assert_ne!(n, 1000));
        /// ```
        fn panic_fuse(self) -> PanicFuse<Self> {
            PanicFuse::new(self)
        }

        /// Any `n` items, those that come first in time; all if there are fewer.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let even = (0..100).into_par_iter().filter(|n| n % 2 == 0);
        /// let some: Vec<_> = even.take_any(5).collect();
        /// assert_eq!(some.len(), 5);
        /// assert!(some.is_sorted());
        /// ```
        fn take_any(self, n: usize) -> TakeAny<Self> {
            TakeAny::new(self, n)
        }

        /// All items but `n`, those that come first in time.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let even = (0..100).into_par_iter().filter(|n| n % 2 == 0);
        /// let some: Vec<_> = even.skip_any(5).collect();
        /// assert_eq!(some.len(), 45);
        /// assert!(some.is_sorted());
        /// ```
        fn skip_any(self, n: usize) -> SkipAny<Self> {
            SkipAny::new(self, n)
        }

        /// Items that `predicate` wants, until it refuses one in any piece.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let some: Vec<_> = (0..100).into_par_iter().take_any_while(|n| *n < 50).collect();
        /// assert!(some.iter().all(|n| *n < 50));
        /// ```
        fn take_any_while<P>(self, predicate: P) -> TakeAnyWhile<Self, P>
        where
            P: Fn(&Self::Item) -> bool + Sync + Send,
        {
            TakeAnyWhile::new(self, predicate)
        }

        /// Leaves out items that `predicate` wants, until it refuses one in any piece. That item
        /// and all after it in time pass.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let some: Vec<_> = (0..100).into_par_iter().skip_any_while(|n| *n < 50).collect();
        /// assert!((50..100).all(|n| some.contains(&n)));
        /// ```
        fn skip_any_while<P>(self, predicate: P) -> SkipAnyWhile<Self, P>
        where
            P: Fn(&Self::Item) -> bool + Sync + Send,
        {
            SkipAnyWhile::new(self, predicate)
        }
    };
}
pub(crate) use early;
