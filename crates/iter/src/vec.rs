//! Parallel iterators over vectors and boxed slices by value.

use crate::iter::IntoParallelIterator;
use crate::iter::indexed::indexed;
use crate::owned::Owned;
use std::mem::MaybeUninit;

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
