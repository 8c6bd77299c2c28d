//! Parts of a slice that end where a function of the user's says so.

use crate::iter::ParallelIterator;
use crate::iter::plumbing::{UnindexedConsumer, bridge_unindexed};
use crate::parts::{Parts, Rule};
use std::fmt;
use std::ops::Range;

/// Parts without the separators between them.
struct Separated<'r, P>(&'r P);
/// Parts that have their separators as last items.
struct Terminated<'r, P>(&'r P);
/// Parts of adjacent items that belong together.
struct Alike<'r, P>(&'r P);

macro_rules! parts {
    ($(
        $(#[$doc:meta])*
        $name:ident [$($mutable:tt)?] $bound:ident, [$($argument:ty),*], $rule:ident, $method:ident,
        |$p:ident, $slice:ident, $index:ident| $ends_at:expr,
        |$whole:ident, $at:ident| $cut:expr,
        |$part:ident| $is_one_part:expr;
    )*) => {$(
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        pub struct $name<'data, T, P> { slice: &'data $($mutable)? [T], function: P }

        impl<'data, T, P> $name<'data, T, P> {
            pub(super) fn new(slice: &'data $($mutable)? [T], function: P) -> Self {
                Self { slice, function }
            }
        }

        impl<T: fmt::Debug, P> fmt::Debug for $name<'_, T, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(stringify!($name));
                shown.field("slice", &self.slice).finish_non_exhaustive()
            }
        }

        impl<'data, T: $bound, P> ParallelIterator for $name<'data, T, P>
        where
            P: Fn($($argument),*) -> bool + Sync + Send,
        {
            type Item = &'data $($mutable)? [T];

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: UnindexedConsumer<Self::Item>,
            {
                let len = self.slice.len();
                bridge_unindexed(Parts::new(self.slice, len, &$rule(&self.function)), consumer)
            }
        }

        impl<'data, T, P> Rule<&'data $($mutable)? [T]> for $rule<'_, P>
        where
            P: Fn($($argument),*) -> bool + Sync,
        {
            fn middle(_: &&'data $($mutable)? [T], range: &Range<usize>) -> usize {
                range.start + range.len() / 2
            }

            fn first_end(
                &self,
                $slice: &&'data $($mutable)? [T],
                mut range: Range<usize>,
            ) -> Option<Range<usize>> {
                let $p = self.0;
                let at = range.find(|&$index| $ends_at)?;
                Some(at..at + 1)
            }

            fn last_end(
                &self,
                $slice: &&'data $($mutable)? [T],
                range: Range<usize>,
            ) -> Option<Range<usize>> {
                let $p = self.0;
                let at = range.rev().find(|&$index| $ends_at)?;
                Some(at..at + 1)
            }

            fn cut(
                $whole: &'data $($mutable)? [T],
                $at: &Range<usize>,
            ) -> (&'data $($mutable)? [T], &'data $($mutable)? [T]) {
                $cut
            }

            fn parts(
                &self,
                slice: &'data $($mutable)? [T],
            ) -> impl Iterator<Item = &'data $($mutable)? [T]> {
                slice.$method(self.0)
            }

            fn is_one_part($part: &&'data $($mutable)? [T]) -> bool {
                $is_one_part
            }
        }
    )*};
}

parts! {
    /// Parts between separators:
    /// what [`par_split`](super::ParallelSlice::par_split) returns.
    Split[] Sync, [&T], Separated, split,
        |p, slice, index| p(&slice[index]),
        |slice, end| (&slice[..end.start], &slice[end.end..]),
        |_part| true;
    /// Parts that end with separators:
    /// what [`par_split_inclusive`](super::ParallelSlice::par_split_inclusive) returns.
    SplitInclusive[] Sync, [&T], Terminated, split_inclusive,
        |p, slice, index| p(&slice[index]),
        |slice, end| slice.split_at(end.end),
        |part| !part.is_empty();
    /// Parts of items that belong together:
    /// what [`par_chunk_by`](super::ParallelSlice::par_chunk_by) returns.
    ChunkBy[] Sync, [&T, &T], Alike, chunk_by,
        |p, slice, index| index + 1 < slice.len() && !p(&slice[index], &slice[index + 1]),
        |slice, end| slice.split_at(end.end),
        |part| !part.is_empty();
    /// Mutable parts between separators:
    /// what [`par_split_mut`](super::ParallelSliceMut::par_split_mut) returns.
    SplitMut[mut] Send, [&T], Separated, split_mut,
        |p, slice, index| p(&slice[index]),
        |slice, end| {
            let (first, rest) = slice.split_at_mut(end.start);
            (first, &mut rest[end.len()..])
        },
        |_part| true;
    /// Mutable parts that end with separators:
    /// what [`par_split_inclusive_mut`](super::ParallelSliceMut::par_split_inclusive_mut) returns.
    SplitInclusiveMut[mut] Send, [&T], Terminated, split_inclusive_mut,
        |p, slice, index| p(&slice[index]),
        |slice, end| slice.split_at_mut(end.end),
        |part| !part.is_empty();
    /// Mutable parts of items that belong together:
    /// what [`par_chunk_by_mut`](super::ParallelSliceMut::par_chunk_by_mut) returns.
    ChunkByMut[mut] Send, [&T, &T], Alike, chunk_by_mut,
        |p, slice, index| index + 1 < slice.len() && !p(&slice[index], &slice[index + 1]),
        |slice, end| slice.split_at_mut(end.end),
        |part| !part.is_empty();
}

impl<T, P: Clone> Clone for Split<'_, T, P> {
    fn clone(&self) -> Self {
        Self { slice: self.slice, function: self.function.clone() }
    }
}

impl<T, P: Clone> Clone for SplitInclusive<'_, T, P> {
    fn clone(&self) -> Self {
        Self { slice: self.slice, function: self.function.clone() }
    }
}

impl<T, P: Clone> Clone for ChunkBy<'_, T, P> {
    fn clone(&self) -> Self {
        Self { slice: self.slice, function: self.function.clone() }
    }
}
