//! Parallel iterators over heaps.

use super::{drained, through_vector};
use std::collections::BinaryHeap;

through_vector! {
    /// The items of a heap, in no order.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::BinaryHeap::from([1, 2]);
    /// assert_eq!(items.into_par_iter().sum::<i32>(), 3);
    /// ```
    IntoIter[T] of impl[T] BinaryHeap<T> => T;
    where { T: Send }
}

through_vector! {
    /// References to the items of a heap, in no order.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::BinaryHeap::from([1, 2]);
    /// assert_eq!(items.par_iter().sum::<i32>(), 3);
    /// ```
    Iter['a, T] of impl['a, T] &'a BinaryHeap<T> => &'a T;
    where { T: Sync }
}

drained! {
    /// All items of a heap, in no order, which leave it. Its memory stays.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut all = std::collections::BinaryHeap::from([1, 2]);
    /// assert_eq!(all.par_drain().count(), 2);
    /// assert!(all.is_empty());
    /// ```
    Drain['a, T] of impl['a, T] &'a mut BinaryHeap<T> => T;
    where { T: Send }
}
