//! Parallel iterators over ranges of integers and characters with their ends.

use crate::iter::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, empty, once};
use std::ops::RangeInclusive;

/// The integers or characters of a range with its end. Integers of 8 and 16 bits are indexed, and
/// so are characters.
///
/// ```
/// use sateen::prelude::*;
/// assert_eq!((0..=u8::MAX).into_par_iter().map(u32::from).sum::<u32>(), 32_640);
/// assert_eq!(('a'..='e').into_par_iter().rev().collect::<String>(), "edcba");
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Iter<T> {
    pub(crate) range: RangeInclusive<T>,
}

impl<T> IntoParallelIterator for RangeInclusive<T>
where
    Iter<T>: ParallelIterator,
{
    type Item = <Iter<T> as ParallelIterator>::Item;
    type Iter = Iter<T>;

    fn into_par_iter(self) -> Iter<T> {
        Iter { range: self }
    }
}

/// Bounds on the items, not on the iterators, let the compiler find the type of a literal.
mod private {
    use super::{Consumer, Iter, ProducerCallback, UnindexedConsumer};

    /// An integer of any size.
    pub trait RangeInteger: Sized + Send {
        /// Drives a consumer.
        fn drive_unindexed<C: UnindexedConsumer<Self>>(iter: Iter<Self>, consumer: C) -> C::Result;
        /// The length, if it is a `usize`.
        fn opt_len(iter: &Iter<Self>) -> Option<usize>;
    }

    /// An integer whose ranges have lengths.
    pub trait IndexedRangeInteger: RangeInteger {
        /// The length.
        fn len(iter: &Iter<Self>) -> usize;
        /// Drives a consumer.
        fn drive<C: Consumer<Self>>(iter: Iter<Self>, consumer: C) -> C::Result;
        /// Gives the producer to the callback.
        fn with_producer<CB>(iter: Iter<Self>, callback: CB) -> CB::Output
        where
            CB: ProducerCallback<Self>;
    }
}
pub(crate) use private::{IndexedRangeInteger, RangeInteger};

impl<T: RangeInteger> ParallelIterator for Iter<T> {
    type Item = T;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        T::drive_unindexed(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        T::opt_len(self)
    }
}

impl<T: IndexedRangeInteger> IndexedParallelIterator for Iter<T> {
    fn len(&self) -> usize {
        T::len(self)
    }

    fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result {
        T::drive(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<T>>(self, callback: CB) -> CB::Output {
        T::with_producer(self, callback)
    }
}

/// Calls the method on the same integers as a half-open range, with the type's last integer behind
/// it if need be. A range that was iterated to its end is empty, whatever its bounds are.
macro_rules! as_half_open {
    ($iter:ident.$method:ident($($argument:expr)?)) => {{
        let (&start, &end) = ($iter.range.start(), $iter.range.end());
        match end.checked_add(1) {
            _ if $iter.range.is_empty() => empty::<Self>().$method($($argument)?),
            Some(end) => (start..end).into_par_iter().$method($($argument)?),
            None => (start..end).into_par_iter().chain(once(end)).$method($($argument)?),
        }
    }};
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl RangeInteger for $t {
            fn drive_unindexed<C: UnindexedConsumer<$t>>(iter: Iter<$t>, consumer: C) -> C::Result {
                as_half_open!(iter.drive_unindexed(consumer))
            }

            fn opt_len(iter: &Iter<$t>) -> Option<usize> {
                as_half_open!(iter.opt_len())
            }
        }
    )*};
}

macro_rules! indexed {
    ($($t:ty),*) => {$(
        impl IndexedRangeInteger for $t {
            fn len(iter: &Iter<$t>) -> usize {
                iter.range.len()
            }

            fn drive<C: Consumer<$t>>(iter: Iter<$t>, consumer: C) -> C::Result {
                as_half_open!(iter.drive(consumer))
            }

            fn with_producer<CB>(iter: Iter<$t>, callback: CB) -> CB::Output
            where
                CB: ProducerCallback<$t>,
            {
                as_half_open!(iter.with_producer(callback))
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);
indexed!(u8, u16, i8, i16);
