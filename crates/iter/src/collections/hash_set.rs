//! Parallel iterators over hash sets.

use super::{drained, through_vector};
use std::collections::HashSet;

through_vector! {
    /// The items of a set.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::HashSet::from([1, 2]);
    /// assert_eq!(items.into_par_iter().sum::<i32>(), 3);
    /// ```
    IntoIter[T] of impl[T, S] HashSet<T, S> => T;
    where { T: Send }
}

through_vector! {
    /// References to the items of a set.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::HashSet::from([1, 2]);
    /// assert_eq!(items.par_iter().sum::<i32>(), 3);
    /// ```
    Iter['a, T] of impl['a, T, S] &'a HashSet<T, S> => &'a T;
    where { T: Sync }
}

drained! {
    /// All items of a set, which leave it. Its memory stays.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut all = std::collections::HashSet::from([1, 2]);
    /// assert_eq!(all.par_drain().count(), 2);
    /// assert!(all.is_empty());
    /// ```
    Drain['a, T] of impl['a, T, S] &'a mut HashSet<T, S> => T;
    where { T: Send }
}
