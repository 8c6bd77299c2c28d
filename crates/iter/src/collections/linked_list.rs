//! Parallel iterators over linked lists.

use super::through_vector;
use std::collections::LinkedList;

through_vector! {
    /// The items of a list.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::LinkedList::from([1, 2]);
    /// assert_eq!(items.into_par_iter().sum::<i32>(), 3);
    /// ```
    IntoIter[T] of impl[T] LinkedList<T> => T;
    where { T: Send }
}

through_vector! {
    /// References to the items of a list.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::LinkedList::from([1, 2]);
    /// assert_eq!(items.par_iter().sum::<i32>(), 3);
    /// ```
    Iter['a, T] of impl['a, T] &'a LinkedList<T> => &'a T;
    where { T: Sync }
}

through_vector! {
    /// Mutable references to the items of a list.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut items = std::collections::LinkedList::from([1, 2]);
    /// items.par_iter_mut().for_each(|n| *n += 1);
    /// assert_eq!(items, std::collections::LinkedList::from([2, 3]));
    /// ```
    IterMut['a, T] of impl['a, T] &'a mut LinkedList<T> => &'a mut T;
    where { T: Send }
}
