//! Ends that look for an item.

macro_rules! find {
    () => {
        /// Some item that `predicate` wants, the one that is found first in time.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let found = (0..100).into_par_iter().find_any(|n| n % 7 == 6);
        /// assert_eq!(found.map(|n| n % 7), Some(6));
        /// ```
        fn find_any<P>(self, predicate: P) -> Option<Self::Item>
        where
            P: Fn(&Self::Item) -> bool + Sync + Send,
        {
            find::find_any(self, &predicate)
        }

        /// The first item that `predicate` wants.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((0..100).into_par_iter().find_first(|n| n % 7 == 6), Some(6));
        /// ```
        fn find_first<P>(self, predicate: P) -> Option<Self::Item>
        where
            P: Fn(&Self::Item) -> bool + Sync + Send,
        {
            find_first_last::find_first(self, &predicate)
        }

        /// The last item that `predicate` wants.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!((0..100).into_par_iter().find_last(|n| n % 7 == 6), Some(97));
        /// ```
        fn find_last<P>(self, predicate: P) -> Option<Self::Item>
        where
            P: Fn(&Self::Item) -> bool + Sync + Send,
        {
            find_first_last::find_last(self, &predicate)
        }

        /// Whether `predicate` is true of any item.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert!((0..10).into_par_iter().any(|n| n == 7));
        /// ```
        fn any<P>(self, predicate: P) -> bool
        where
            P: Fn(Self::Item) -> bool + Sync + Send,
        {
            self.map(predicate).find_any(|is| *is).is_some()
        }

        /// Whether `predicate` is true of all items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert!((0..10).into_par_iter().all(|n| n < 10));
        /// ```
        fn all<P>(self, predicate: P) -> bool
        where
            P: Fn(Self::Item) -> bool + Sync + Send,
        {
            self.map(predicate).find_any(|is| !*is).is_none()
        }
    };
}
pub(crate) use find;
