//! `repeat`: the same item without end.

use super::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use super::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, RepeatN, Zip};

/// An iterator of clones of `element`, without end.
///
/// It is of use with what ends it, such as [`take`](Repeat::take), [`zip`](Repeat::zip) or
/// [`find_any`](ParallelIterator::find_any).
///
/// ```
/// use sateen::prelude::*;
/// let twice: Vec<_> = sateen::iter::repeat("x").take(2).collect();
/// assert_eq!(twice, ["x", "x"]);
/// ```
pub fn repeat<T: Clone + Send>(element: T) -> Repeat<T> {
    Repeat { element }
}

/// Another name of [`repeat_n`](super::repeat_n), which rayon has, too.
#[deprecated(note = "use `repeat_n`")]
pub fn repeatn<T: Clone + Send>(element: T, n: usize) -> RepeatN<T> {
    super::repeat_n(element, n)
}

/// The same item without end: what [`repeat`] returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Repeat<T> {
    element: T,
}

impl<T: Clone + Send> Repeat<T> {
    /// The first `n` items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!(sateen::iter::repeat(7).take(3).sum::<i32>(), 21);
    /// ```
    pub fn take(self, n: usize) -> RepeatN<T> {
        super::repeat_n(self.element, n)
    }

    /// Pairs an item with each of `zip_op`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let pairs: Vec<_> = sateen::iter::repeat('x').zip(0..2).collect();
    /// assert_eq!(pairs, [('x', 0), ('x', 1)]);
    /// ```
    pub fn zip<Z>(self, zip_op: Z) -> Zip<RepeatN<T>, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        let others = zip_op.into_par_iter();
        let n = others.len();
        self.take(n).zip(others)
    }
}

impl<T: Clone + Send> ParallelIterator for Repeat<T> {
    type Item = T;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        bridge_unindexed(Endless(self.element), consumer)
    }
}

struct Endless<T>(T);

impl<T: Clone + Send> UnindexedProducer for Endless<T> {
    type Item = T;

    fn split(self) -> (Self, Option<Self>) {
        let half = Self(self.0.clone());
        (half, Some(self))
    }

    fn fold_with<F: Folder<T>>(self, folder: F) -> F {
        folder.consume_iter(std::iter::repeat(self.0))
    }
}
