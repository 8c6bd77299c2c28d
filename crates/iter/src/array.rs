//! Parallel iterators over arrays by value.

use crate::iter::IntoParallelIterator;
use crate::iter::indexed::indexed;
use crate::owned::Owned;
use std::mem::{ManuallyDrop, MaybeUninit};

/// The items of an array.
///
/// ```
/// use sateen::prelude::*;
/// let total: usize = ["a".to_owned(), "bb".to_owned()].into_par_iter().map(|w| w.len()).sum();
/// assert_eq!(total, 3);
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct IntoIter<T, const N: usize> {
    array: [T; N],
}

impl<T: Send, const N: usize> IntoParallelIterator for [T; N] {
    type Item = T;
    type Iter = IntoIter<T, N>;

    fn into_par_iter(self) -> IntoIter<T, N> {
        IntoIter { array: self }
    }
}

indexed! {
    impl[T, const N: usize] IntoIter<T, N> => T;
    where { T: Send }
    len = |_this| N;
    with_producer = |this, callback| {
        let mut array = ManuallyDrop::new(this.array);
        let items: *mut MaybeUninit<T> = array.as_mut_ptr().cast();
        // SAFETY: the array's own memory, which this frame keeps until the call returns. Nothing
        // else reads or drops the items.
        let items = unsafe { Owned::new(std::slice::from_raw_parts_mut(items, N)) };
        callback.callback(items)
    };
}
