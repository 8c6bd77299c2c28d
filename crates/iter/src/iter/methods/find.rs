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

        /// Something that `predicate` makes of an item, the first in time that is `Some`.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let found = ["x", "2", "y"].par_iter().find_map_any(|word| word.parse().ok());
        /// assert_eq!(found, Some(2));
        /// ```
        fn find_map_any<P, R>(self, predicate: P) -> Option<R>
        where
            P: Fn(Self::Item) -> Option<R> + Sync + Send,
            R: Send,
        {
            self.filter_map(predicate).find_any(|_| true)
        }

        /// What `predicate` makes of the first item of which it makes `Some`.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let found = ["x", "2", "3"].par_iter().find_map_first(|word| word.parse().ok());
        /// assert_eq!(found, Some(2));
        /// ```
        fn find_map_first<P, R>(self, predicate: P) -> Option<R>
        where
            P: Fn(Self::Item) -> Option<R> + Sync + Send,
            R: Send,
        {
            self.filter_map(predicate).find_first(|_| true)
        }

        /// What `predicate` makes of the last item of which it makes `Some`.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let found = ["x", "2", "3"].par_iter().find_map_last(|word| word.parse().ok());
        /// assert_eq!(found, Some(3));
        /// ```
        fn find_map_last<P, R>(self, predicate: P) -> Option<R>
        where
            P: Fn(Self::Item) -> Option<R> + Sync + Send,
            R: Send,
        {
            self.filter_map(predicate).find_last(|_| true)
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
