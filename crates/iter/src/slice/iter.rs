//! The items of a slice.

use crate::iter::IntoParallelIterator;
use crate::iter::indexed::indexed;
use crate::iter::plumbing::Producer;

/// References to the items of a slice.
///
/// ```
/// use sateen::prelude::*;
/// assert_eq!([1, 2, 3].par_iter().sum::<i32>(), 6);
/// ```
///
/// Items that must not be shared do not compile:
///
/// ```compile_fail
/// use sateen::prelude::*;
/// let cells = [std::cell::Cell::new(1)];
/// cells.par_iter().for_each(|cell| cell.set(2));
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Debug)]
pub struct Iter<'data, T> {
    slice: &'data [T],
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { slice: self.slice }
    }
}

indexed! {
    impl['data, T] Iter<'data, T> => &'data T;
    where { T: Sync }
    len = |this| this.slice.len();
    with_producer = |this, callback| callback.callback(Shared(this.slice));
}

struct Shared<'data, T>(&'data [T]);

impl<'data, T: Sync> Producer for Shared<'data, T> {
    type Item = &'data T;
    type IntoIter = std::slice::Iter<'data, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at(index);
        (Self(left), Self(right))
    }
}

/// Mutable references to the items of a slice.
///
/// ```
/// use sateen::prelude::*;
/// let mut numbers = [1, 2, 3];
/// numbers.par_iter_mut().for_each(|n| *n *= 2);
/// assert_eq!(numbers, [2, 4, 6]);
/// ```
///
/// Items that must not change threads do not compile:
///
/// ```compile_fail
/// use sateen::prelude::*;
/// let mut shared = [std::rc::Rc::new(1)];
/// shared.par_iter_mut().for_each(|rc| *rc = std::rc::Rc::new(2));
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Debug)]
pub struct IterMut<'data, T> {
    slice: &'data mut [T],
}

indexed! {
    impl['data, T] IterMut<'data, T> => &'data mut T;
    where { T: Send }
    len = |this| this.slice.len();
    with_producer = |this, callback| callback.callback(Exclusive(this.slice));
}

struct Exclusive<'data, T>(&'data mut [T]);

impl<'data, T: Send> Producer for Exclusive<'data, T> {
    type Item = &'data mut T;
    type IntoIter = std::slice::IterMut<'data, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at_mut(index);
        (Self(left), Self(right))
    }
}

/// Implements the conversion for what borrows a slice.
macro_rules! as_slice {
    ($(
        impl[$($generics:tt)*] $name:ty: $bound:ident => $iter:ident,
        |$this:ident| $slice:expr;
    )*) => {$(
        impl<'data, T: $bound + 'data, $($generics)*> IntoParallelIterator for $name {
            type Iter = $iter<'data, T>;
            type Item = <$iter<'data, T> as crate::iter::ParallelIterator>::Item;

            fn into_par_iter(self) -> Self::Iter {
                let $this = self;
                $iter { slice: $slice }
            }
        }
    )*};
}

as_slice! {
    impl[] &'data [T]: Sync => Iter, |this| this;
    impl[] &'data Vec<T>: Sync => Iter, |this| this;
    impl[] &'data Box<[T]>: Sync => Iter, |this| this;
    impl[const N: usize] &'data [T; N]: Sync => Iter, |this| this;
    impl[] &'data mut [T]: Send => IterMut, |this| this;
    impl[] &'data mut Vec<T>: Send => IterMut, |this| this;
    impl[] &'data mut Box<[T]>: Send => IterMut, |this| this;
    impl[const N: usize] &'data mut [T; N]: Send => IterMut, |this| this;
}
