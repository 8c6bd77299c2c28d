//! Parallel iterators over vectors and boxed slices by value.

use crate::bounds::within;
use crate::iter::indexed::indexed;
use crate::iter::{IntoParallelIterator, ParallelDrainRange};
use crate::owned::Owned;
use std::mem::MaybeUninit;
use std::ops::{Range, RangeBounds};

/// The items of a vector.
///
/// ```
/// use sateen::prelude::*;
/// let words = vec!["a".to_owned(), "bb".to_owned()];
/// let lengths: Vec<_> = words.into_par_iter().map(|word| word.len()).collect();
/// assert_eq!(lengths, [1, 2]);
/// ```
///
/// Items that must not change threads do not compile:
///
/// ```compile_fail
/// use sateen::prelude::*;
/// vec![std::rc::Rc::new(1)].into_par_iter().for_each(drop);
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct IntoIter<T> {
    items: Vec<T>,
}

impl<T: Send> IntoParallelIterator for Vec<T> {
    type Item = T;
    type Iter = IntoIter<T>;

    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter { items: self }
    }
}

impl<T: Send> IntoParallelIterator for Box<[T]> {
    type Item = T;
    type Iter = IntoIter<T>;

    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter { items: self.into_vec() }
    }
}

indexed! {
    impl[T] IntoIter<T> => T;
    where { T: Send }
    len = |this| this.items.len();
    with_producer = |this, callback| {
        let mut items = this.items;
        callback.callback(all_of(&mut items))
    };
}

/// The items of `vector`, which has none from here on but keeps its memory.
pub(crate) fn all_of<T>(vector: &mut Vec<T>) -> Owned<'_, T> {
    let len = vector.len();
    // SAFETY: no items are items of any state.
    unsafe { vector.set_len(0) };
    let items: &mut [MaybeUninit<T>] = &mut vector.spare_capacity_mut()[..len];
    // SAFETY: these are initialised, and the vector does not know them any more.
    unsafe { Owned::new(items) }
}

impl<'a, T: Send> ParallelDrainRange for &'a mut Vec<T> {
    type Iter = Drain<'a, T>;
    type Item = T;

    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'a, T> {
        let range = within(&range, self.len());
        Drain { vector: self, range }
    }
}

/// The items of a range of a vector, which leave it. Those behind move up, also after a panic.
///
/// A range that is not within the vector panics. If the iterator is leaked, the vector keeps all.
///
/// ```
/// use sateen::prelude::*;
/// let mut numbers = vec![1, 2, 3, 4];
/// assert_eq!(numbers.par_drain(1..3).sum::<i32>(), 5);
/// assert_eq!(numbers, [1, 4]);
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Debug)]
pub struct Drain<'a, T> {
    vector: &'a mut Vec<T>,
    /// What is still to leave.
    range: Range<usize>,
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        drop(self.vector.drain(self.range.clone()));
    }
}

indexed! {
    impl['a, T] Drain<'a, T> => T;
    where { T: Send }
    len = |this| this.range.len();
    with_producer = |this, callback| {
        let mut this = this;
        let range = std::mem::replace(&mut this.range, 0..0);
        let mut gap = Gap::new(this.vector, range);
        callback.callback(gap.items())
    };
}

/// A vector whose items of a range are given away. Those behind move up in the end.
struct Gap<'a, T> {
    vector: &'a mut Vec<T>,
    range: Range<usize>,
    /// The vector's length at first. It has only what lies before the range now.
    len: usize,
}

impl<'a, T> Gap<'a, T> {
    fn new(vector: &'a mut Vec<T>, range: Range<usize>) -> Self {
        let len = vector.len();
        assert!(range.start <= range.end && range.end <= len, "a range behind a vector's end");
        // SAFETY: the first items are initialised, and fewer than all.
        unsafe { vector.set_len(range.start) };
        Self { vector, range, len }
    }

    /// The items of the range. Called once.
    fn items(&mut self) -> Owned<'_, T> {
        let items = &mut self.vector.spare_capacity_mut()[..self.range.len()];
        // SAFETY: initialised, since they are within the old length. The vector does not know
        // them any more, and `drop` writes over them without a read.
        unsafe { Owned::new(items) }
    }
}

impl<T> Drop for Gap<'_, T> {
    fn drop(&mut self) {
        let behind = self.len - self.range.end;
        let first = self.vector.as_mut_ptr();
        // SAFETY: both runs are within the vector's memory. The items behind the range are
        // initialised, and move to places whose items were given away.
        unsafe {
            std::ptr::copy(first.add(self.range.end), first.add(self.range.start), behind);
            self.vector.set_len(self.range.start + behind);
        }
    }
}
