//! Parallel iterators over results: the value, and nothing for an error.

use crate::iter::IntoParallelIterator;
use crate::iter::indexed::indexed;
use crate::iter::sources::AtMostOne;
use crate::option::at_most_one;

at_most_one! {
    /// The value of a result, if any.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!("3".parse::<i32>().into_par_iter().chain("x".parse::<i32>()).sum::<i32>(), 3);
    /// ```
    IntoIter[T] of impl[T, E] Result<T, E> => T;
    where { T: Send }
    |this| this.ok()
}

at_most_one! {
    /// A reference to the value of a result, if any.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!("3".parse::<i32>().par_iter().sum::<i32>(), 3);
    /// ```
    Iter['a, T] of impl['a, T, E] &'a Result<T, E> => &'a T;
    where { T: Sync }
    |this| this.as_ref().ok()
}

at_most_one! {
    /// A mutable reference to the value of a result, if any.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut number = "3".parse::<i32>();
    /// number.par_iter_mut().for_each(|n| *n += 1);
    /// assert_eq!(number, Ok(4));
    /// ```
    IterMut['a, T] of impl['a, T, E] &'a mut Result<T, E> => &'a mut T;
    where { T: Send }
    |this| this.as_mut().ok()
}
