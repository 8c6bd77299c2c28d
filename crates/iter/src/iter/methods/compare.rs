//! Ends that compare with another iterator.

macro_rules! compare {
    () => {
        /// Compares with the items of `other` one by one, as dictionaries compare words.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// use std::cmp::Ordering;
        /// assert_eq!([1, 2].par_iter().cmp(&[1, 3]), Ordering::Less);
        /// assert_eq!([1, 2].par_iter().cmp(&[1]), Ordering::Greater);
        /// ```
        fn cmp<I>(self, other: I) -> Ordering
        where
            I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
            Self::Item: Ord,
        {
            compare::cmp(self, other)
        }

        /// [`cmp`](Self::cmp) of items that may have no order. `None` if the first that are not
        /// equal have none.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// use std::cmp::Ordering;
        /// assert_eq!([1.0, 2.0].par_iter().partial_cmp(&[1.0, 3.0]), Some(Ordering::Less));
        /// assert_eq!([f64::NAN].par_iter().partial_cmp(&[1.0]), None);
        /// ```
        fn partial_cmp<I>(self, other: I) -> Option<Ordering>
        where
            I: IntoParallelIterator<Iter: IndexedParallelIterator>,
            Self::Item: PartialOrd<I::Item>,
        {
            compare::partial_cmp(self, other)
        }

        /// Whether both have as many items, and equal ones.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert!((0..3).into_par_iter().eq([0, 1, 2]));
        /// assert!(!(0..3).into_par_iter().eq([0, 1]));
        /// ```
        fn eq<I>(self, other: I) -> bool
        where
            I: IntoParallelIterator<Iter: IndexedParallelIterator>,
            Self::Item: PartialEq<I::Item>,
        {
            compare::eq(self, other)
        }

        /// Whether they differ in an item or in their numbers of items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert!((0..3).into_par_iter().ne([0, 1, 3]));
        /// ```
        fn ne<I>(self, other: I) -> bool
        where
            I: IntoParallelIterator<Iter: IndexedParallelIterator>,
            Self::Item: PartialEq<I::Item>,
        {
            !compare::eq(self, other)
        }

        /// Whether this is less than `other`. Compares as [`partial_cmp`](Self::partial_cmp) does.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert!((0..3).into_par_iter().lt([0, 1, 3]));
        /// ```
        fn lt<I>(self, other: I) -> bool
        where
            I: IntoParallelIterator<Iter: IndexedParallelIterator>,
            Self::Item: PartialOrd<I::Item>,
        {
            compare::partial_cmp(self, other).is_some_and(Ordering::is_lt)
        }

        /// Whether this is less than `other` or equal.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert!((0..3).into_par_iter().le([0, 1, 2]));
        /// ```
        fn le<I>(self, other: I) -> bool
        where
            I: IntoParallelIterator<Iter: IndexedParallelIterator>,
            Self::Item: PartialOrd<I::Item>,
        {
            compare::partial_cmp(self, other).is_some_and(Ordering::is_le)
        }

        /// Whether this is greater than `other`.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert!((0..3).into_par_iter().gt([0, 1]));
        /// ```
        fn gt<I>(self, other: I) -> bool
        where
            I: IntoParallelIterator<Iter: IndexedParallelIterator>,
            Self::Item: PartialOrd<I::Item>,
        {
            compare::partial_cmp(self, other).is_some_and(Ordering::is_gt)
        }

        /// Whether this is greater than `other` or equal.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert!((0..3).into_par_iter().ge([0, 1, 2]));
        /// ```
        fn ge<I>(self, other: I) -> bool
        where
            I: IntoParallelIterator<Iter: IndexedParallelIterator>,
            Self::Item: PartialOrd<I::Item>,
        {
            compare::partial_cmp(self, other).is_some_and(Ordering::is_ge)
        }
    };
}
pub(crate) use compare;
