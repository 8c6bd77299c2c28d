//! Items that are given away one by one, out of memory that somebody else frees.

use crate::iter::plumbing::Producer;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Owns a run of items in memory that lives for `'a`. Producer and iterator.
pub(crate) struct Owned<'a, T> {
    items: &'a mut [MaybeUninit<T>],
    owns: PhantomData<T>,
}

impl<'a, T> Owned<'a, T> {
    /// # Safety
    /// All of `items` are initialised, and from here on nobody else drops or reads them.
    pub(crate) unsafe fn new(items: &'a mut [MaybeUninit<T>]) -> Self {
        Self { items, owns: PhantomData }
    }

    /// Takes the places, whose items the caller owns then.
    #[inline(always)]
    fn take_places(&mut self) -> &'a mut [MaybeUninit<T>] {
        std::mem::take(&mut self.items)
    }
}

impl<T> Drop for Owned<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() && !self.items.is_empty() {
            sateen_base::unwind::run_to_end(|| self.next().is_some());
        }
    }
}

impl<T: Send> Producer for Owned<'_, T> {
    type Item = T;
    type IntoIter = Self;

    #[inline]
    fn into_iter(self) -> Self {
        self
    }

    #[inline]
    fn split_at(mut self, index: usize) -> (Self, Self) {
        // Both parts together own what this one owns, also if the split panics.
        assert!(index <= self.items.len(), "{} items were split at {index}", self.items.len());
        let (left, right) = self.take_places().split_at_mut(index);
        (Self { items: left, owns: PhantomData }, Self { items: right, owns: PhantomData })
    }
}

impl<T> Iterator for Owned<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let (first, others) = self.take_places().split_first_mut()?;
        self.items = others;
        // SAFETY: initialised, and it has just left this run.
        Some(unsafe { first.assume_init_read() })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.items.len(), Some(self.items.len()))
    }
}

impl<T> DoubleEndedIterator for Owned<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        let (last, others) = self.take_places().split_last_mut()?;
        self.items = others;
        // SAFETY: initialised, and it has just left this run.
        Some(unsafe { last.assume_init_read() })
    }
}

impl<T> ExactSizeIterator for Owned<'_, T> {}
impl<T> FusedIterator for Owned<'_, T> {}
