//! Parallel iterators over ordered sets.

use super::through_vector;
use std::collections::BTreeSet;

through_vector! {
    /// The items of a set.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::BTreeSet::from([1, 2]);
    /// assert_eq!(items.into_par_iter().sum::<i32>(), 3);
    /// ```
    IntoIter[T] of impl[T] BTreeSet<T> => T;
    where { T: Send }
}

through_vector! {
    /// References to the items of a set.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::BTreeSet::from([1, 2]);
    /// assert_eq!(items.par_iter().sum::<i32>(), 3);
    /// ```
    Iter['a, T] of impl['a, T] &'a BTreeSet<T> => &'a T;
    where { T: Sync }
}
