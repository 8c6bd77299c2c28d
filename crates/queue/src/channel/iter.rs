//! Iterators over received items.

use super::Receiver;
use std::fmt;
use std::iter::FusedIterator;

/// See [`Receiver::iter`].
pub struct Iter<'a, T> {
    pub(super) receiver: &'a Receiver<T>,
}

/// See [`Receiver::try_iter`].
pub struct TryIter<'a, T> {
    pub(super) receiver: &'a Receiver<T>,
}

/// The owning form of [`Iter`]: a `for` loop over a receiver uses it.
pub struct IntoIter<T> {
    pub(super) receiver: Receiver<T>,
}

/// The items that [`Sender::send_all`](super::Sender::send_all) has not sent, in order.
pub struct Unsent<I: Iterator> {
    pub(super) first: Option<I::Item>,
    pub(super) rest: I,
}

impl<I: Iterator> Iterator for Unsent<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.first.take().or_else(|| self.rest.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let first = usize::from(self.first.is_some());
        let (low, high) = self.rest.size_hint();
        (low + first, high.map(|high| high + first))
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Unsent<I> {}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> FusedIterator for Iter<'_, T> {}
impl<T> FusedIterator for IntoIter<T> {}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Iter { .. }")
    }
}

impl<T> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("TryIter { .. }")
    }
}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("IntoIter { .. }")
    }
}

impl<I: Iterator> fmt::Debug for Unsent<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Unsent { .. }")
    }
}
