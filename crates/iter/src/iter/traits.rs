//! Traits of what becomes a parallel iterator, and of what is made from one.

use super::ParallelIterator;
use std::ops::RangeBounds;

/// What can be turned into a parallel iterator.
///
/// ```
/// use sateen::prelude::*;
///
/// fn longest(words: impl IntoParallelIterator<Item = String>) -> usize {
///     words.into_par_iter().map(|word| word.len()).max().unwrap_or(0)
/// }
/// assert_eq!(longest(vec!["a".to_owned(), "bb".to_owned()]), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot become a parallel iterator, as ranges and collections can"
)]
pub trait IntoParallelIterator {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// The type of its items.
    type Item: Send;

    /// The iterator over what this holds.
    fn into_par_iter(self) -> Self::Iter;
}

impl<I: ParallelIterator> IntoParallelIterator for I {
    type Iter = I;
    type Item = I::Item;

    fn into_par_iter(self) -> I {
        self
    }
}

/// What has a parallel iterator over references. Implemented for all whose references are
/// [`IntoParallelIterator`].
///
/// ```
/// use sateen::prelude::*;
/// assert_eq!([1, 2, 3].par_iter().sum::<i32>(), 6);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no parallel iterator over references",
    label = "no `par_iter`",
    note = "the items must be `Sync`: other threads see them at the same time"
)]
pub trait IntoParallelRefIterator<'data> {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// The type of its items.
    type Item: Send + 'data;

    /// An iterator over references to the items.
    fn par_iter(&'data self) -> Self::Iter;
}

impl<'data, I: 'data + ?Sized> IntoParallelRefIterator<'data> for I
where
    &'data I: IntoParallelIterator,
{
    type Iter = <&'data I as IntoParallelIterator>::Iter;
    type Item = <&'data I as IntoParallelIterator>::Item;

    fn par_iter(&'data self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// What has a parallel iterator over mutable references. Implemented for all whose mutable
/// references are [`IntoParallelIterator`].
///
/// ```
/// use sateen::prelude::*;
/// let mut numbers = vec![1, 2, 3];
/// numbers.par_iter_mut().for_each(|n| *n += 1);
/// assert_eq!(numbers, [2, 3, 4]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no parallel iterator over mutable references",
    label = "no `par_iter_mut`",
    note = "the items must be `Send`: other threads change them"
)]
pub trait IntoParallelRefMutIterator<'data> {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// The type of its items.
    type Item: Send + 'data;

    /// An iterator over mutable references to the items.
    fn par_iter_mut(&'data mut self) -> Self::Iter;
}

impl<'data, I: 'data + ?Sized> IntoParallelRefMutIterator<'data> for I
where
    &'data mut I: IntoParallelIterator,
{
    type Iter = <&'data mut I as IntoParallelIterator>::Iter;
    type Item = <&'data mut I as IntoParallelIterator>::Item;

    fn par_iter_mut(&'data mut self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// What can be collected from a parallel iterator.
///
/// ```
/// use sateen::prelude::*;
///
/// struct Total(u64);
/// impl FromParallelIterator<u64> for Total {
///     fn from_par_iter<I: IntoParallelIterator<Item = u64>>(items: I) -> Self {
///         Total(items.into_par_iter().sum())
///     }
/// }
/// assert_eq!((0..10u64).into_par_iter().collect::<Total>().0, 45);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be collected from a parallel iterator of `{T}`"
)]
pub trait FromParallelIterator<T: Send> {
    /// Collects the items.
    fn from_par_iter<I>(par_iter: I) -> Self
    where
        I: IntoParallelIterator<Item = T>;
}

/// What can take in the items of a parallel iterator.
///
/// ```
/// use sateen::prelude::*;
/// let mut numbers = vec![0];
/// numbers.par_extend(1..4);
/// assert_eq!(numbers, [0, 1, 2, 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be extended by a parallel iterator of `{T}`"
)]
pub trait ParallelExtend<T: Send> {
    /// Takes in the items.
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = T>;
}

/// What can give away all of its items.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be drained in parallel")]
pub trait ParallelDrainFull {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// The type of its items.
    type Item: Send;

    /// An iterator over all items, which are gone afterwards. The memory stays.
    fn par_drain(self) -> Self::Iter;
}

/// What can give away the items of a range.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot be drained in parallel")]
pub trait ParallelDrainRange<Idx = usize> {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// The type of its items.
    type Item: Send;

    /// An iterator over the items of `range`, which are gone afterwards. The memory stays.
    fn par_drain<R: RangeBounds<Idx>>(self, range: R) -> Self::Iter;
}
