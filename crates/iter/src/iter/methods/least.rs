//! Ends that pick the least or the greatest item.

macro_rules! least {
    () => {
        /// The least item; the first of equal ones. `None` if there are no items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!([3, 1, 2].par_iter().min(), Some(&1));
        /// ```
        fn min(self) -> Option<Self::Item>
        where
            Self::Item: Ord,
        {
            self.reduce_with(Ord::min)
        }

        /// The least item as `f` compares them; the first of equal ones.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let least = [3.5, 1.5, 2.5].par_iter().copied().min_by(f64::total_cmp);
        /// assert_eq!(least, Some(1.5));
        /// ```
        fn min_by<F>(self, f: F) -> Option<Self::Item>
        where
            F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
        {
            self.reduce_with(|a, b| if f(&a, &b) == Ordering::Greater { b } else { a })
        }

        /// The item whose key is the least; the first of equal ones. `f` is called once for each.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let least = ["ccc", "a", "bb"].par_iter().min_by_key(|word| word.len());
        /// assert_eq!(least, Some(&"a"));
        /// ```
        fn min_by_key<K, F>(self, f: F) -> Option<Self::Item>
        where
            K: Ord + Send,
            F: Sync + Send + Fn(&Self::Item) -> K,
        {
            let keyed = self.map(|item| (f(&item), item));
            keyed.min_by(|a, b| a.0.cmp(&b.0)).map(|(_, item)| item)
        }

        /// The greatest item; the last of equal ones. `None` if there are no items.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// assert_eq!([3, 1, 2].par_iter().max(), Some(&3));
        /// ```
        fn max(self) -> Option<Self::Item>
        where
            Self::Item: Ord,
        {
            self.reduce_with(Ord::max)
        }

        /// The greatest item as `f` compares them; the last of equal ones.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let greatest = [3.5, 1.5, 2.5].par_iter().copied().max_by(f64::total_cmp);
        /// assert_eq!(greatest, Some(3.5));
        /// ```
        fn max_by<F>(self, f: F) -> Option<Self::Item>
        where
            F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
        {
            self.reduce_with(|a, b| if f(&a, &b) == Ordering::Greater { a } else { b })
        }

        /// The item whose key is the greatest; the last of equal ones. `f` is called once for each.
        ///
        /// ```
        /// use sateen::prelude::*;
        /// let greatest = ["ccc", "a", "bb"].par_iter().max_by_key(|word| word.len());
        /// assert_eq!(greatest, Some(&"ccc"));
        /// ```
        fn max_by_key<K, F>(self, f: F) -> Option<Self::Item>
        where
            K: Ord + Send,
            F: Sync + Send + Fn(&Self::Item) -> K,
        {
            let keyed = self.map(|item| (f(&item), item));
            keyed.max_by(|a, b| a.0.cmp(&b.0)).map(|(_, item)| item)
        }
    };
}
pub(crate) use least;
