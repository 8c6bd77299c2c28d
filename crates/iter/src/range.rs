//! Parallel iterators over ranges of integers and characters.

use crate::driver::bridge_unindexed;
use crate::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer, UnindexedProducer, bridge,
};
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::ops::Range;

/// The integers or characters of a range.
///
/// Integers of 64 and 128 bits have no length that fits every machine, so their iterators are not
/// indexed: `zip` and `enumerate` need a range of `usize`.
///
/// ```
/// use sateen::prelude::*;
/// assert_eq!((0..100u64).into_par_iter().map(|n| n * n).sum::<u64>(), 328_350);
/// assert_eq!(('a'..'e').into_par_iter().rev().collect::<String>(), "dcba");
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Iter<T> {
    pub(crate) range: Range<T>,
}

impl<T> IntoParallelIterator for Range<T>
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
    use super::{Iter, ProducerCallback, UnindexedConsumer};

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
        bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<T>>(self, callback: CB) -> CB::Output {
        T::with_producer(self, callback)
    }
}

struct Integers<T>(Range<T>);

macro_rules! indexed {
    ($($t:ty: $unsigned:ty),*) => {$(
        impl RangeInteger for $t {
            fn drive_unindexed<C: UnindexedConsumer<$t>>(iter: Iter<$t>, consumer: C) -> C::Result {
                bridge(iter, consumer)
            }

            fn opt_len(iter: &Iter<$t>) -> Option<usize> {
                Some(iter.range.len())
            }
        }

        impl IndexedRangeInteger for $t {
            fn len(iter: &Iter<$t>) -> usize {
                iter.range.len()
            }

            fn with_producer<CB>(iter: Iter<$t>, callback: CB) -> CB::Output
            where
                CB: ProducerCallback<$t>,
            {
                callback.callback(Integers(iter.range))
            }
        }

        impl Producer for Integers<$t> {
            type Item = $t;
            type IntoIter = Range<$t>;

            #[inline]
            fn into_iter(self) -> Range<$t> {
                self.0
            }

            #[inline]
            fn split_at(self, index: usize) -> (Self, Self) {
                let Range { start, end } = self.0;
                assert!(index <= (start..end).len(), "a range was split behind its end");
                // The distance may be more than the largest signed integer.
                let middle = start.wrapping_add(index as $unsigned as $t);
                (Self(start..middle), Self(middle..end))
            }
        }
    )*};
}

indexed!(u8: u8, u16: u16, u32: u32, usize: usize, i8: u8, i16: u16, i32: u32, isize: usize);

macro_rules! unindexed {
    ($($t:ty: $unsigned:ty),*) => {$(
        impl Integers<$t> {
            fn distance(range: &Range<$t>) -> $unsigned {
                if range.start < range.end {
                    range.end.wrapping_sub(range.start) as $unsigned
                } else {
                    0
                }
            }
        }

        impl RangeInteger for $t {
            fn drive_unindexed<C: UnindexedConsumer<$t>>(iter: Iter<$t>, consumer: C) -> C::Result {
                let Iter { range } = iter;
                match usize::try_from(Integers::<$t>::distance(&range)) {
                    Ok(len) => {
                        let start = range.start;
                        let offsets = (0..len).into_par_iter();
                        offsets.map(|offset| start.wrapping_add(offset as $t)).drive(consumer)
                    }
                    Err(_) => bridge_unindexed(Integers(range), consumer),
                }
            }

            fn opt_len(iter: &Iter<$t>) -> Option<usize> {
                usize::try_from(Integers::<$t>::distance(&iter.range)).ok()
            }
        }

        impl UnindexedProducer for Integers<$t> {
            type Item = $t;

            fn split(self) -> (Self, Option<Self>) {
                let half = Self::distance(&self.0) / 2;
                if half == 0 {
                    return (self, None);
                }
                let Range { start, end } = self.0;
                let middle = start.wrapping_add(half as $t);
                (Self(start..middle), Some(Self(middle..end)))
            }

            fn fold_with<F: Folder<$t>>(self, folder: F) -> F {
                folder.consume_iter(self.0)
            }
        }
    )*};
}

unindexed!(u64: u64, i64: u64, u128: u128, i128: u128);
