//! Parts of a slice that end where a function of the user's says so.

use crate::iter::ParallelIterator;
use crate::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use std::fmt;
use std::ops::Range;

/// How a slice falls into parts. A rule that contradicts itself changes only where parts end.
trait Rule<S>: Sync {
    /// Whether a part ends at the item at `index`.
    fn ends_at(&self, slice: &S, index: usize) -> bool;

    /// Cuts behind the item at `index`, where a part ends.
    fn cut(slice: S, index: usize) -> (S, S);

    /// All parts, in order.
    fn parts(&self, slice: S) -> impl Iterator<Item = S>;
}

/// Parts of a slice that nobody has begun.
struct Parts<'r, S, R> {
    slice: S,
    rule: &'r R,
    /// The items that were not yet looked at. So a search for a cut sees each item at most once.
    unseen: Range<usize>,
}

impl<S: Send, R: Rule<S>> UnindexedProducer for Parts<'_, S, R> {
    type Item = S;

    fn split(mut self) -> (Self, Option<Self>) {
        let Range { start, end } = self.unseen;
        let middle = start + (end - start) / 2;
        let ends_at = |index: &usize| self.rule.ends_at(&self.slice, *index);
        // The end that is nearest behind the middle, else the one nearest before it.
        let (at, left, rest) = match (middle..end).find(ends_at) {
            Some(at) => (at, start..middle, at + 1..end),
            None => match (start..middle).rev().find(ends_at) {
                Some(at) => (at, start..at, end..end),
                None => {
                    self.unseen = 0..0;
                    return (self, None);
                }
            },
        };
        let (first, second) = R::cut(self.slice, at);
        let unseen = rest.start - (at + 1)..rest.end - (at + 1);
        let rule = self.rule;
        let second = Self { slice: second, rule, unseen };
        (Self { slice: first, rule, unseen: left }, Some(second))
    }

    fn fold_with<F: Folder<S>>(self, folder: F) -> F {
        folder.consume_iter(self.rule.parts(self.slice))
    }
}

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
        |$whole:ident, $at:ident| $cut:expr;
    )*) => {$(
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        pub struct $name<'data, T, P> {
            slice: &'data $($mutable)? [T],
            function: P,
        }

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
                let unseen = 0..self.slice.len();
                let rule = &$rule(&self.function);
                bridge_unindexed(Parts { slice: self.slice, rule, unseen }, consumer)
            }
        }

        impl<'data, T, P> Rule<&'data $($mutable)? [T]> for $rule<'_, P>
        where
            P: Fn($($argument),*) -> bool + Sync,
        {
            #[inline]
            fn ends_at(&self, $slice: &&'data $($mutable)? [T], $index: usize) -> bool {
                let $p = self.0;
                $ends_at
            }

            fn cut(
                $whole: &'data $($mutable)? [T],
                $at: usize,
            ) -> (&'data $($mutable)? [T], &'data $($mutable)? [T]) {
                $cut
            }

            fn parts(
                &self,
                slice: &'data $($mutable)? [T],
            ) -> impl Iterator<Item = &'data $($mutable)? [T]> {
                slice.$method(self.0)
            }
        }
    )*};
}

parts! {
    /// Parts between separators:
    /// what [`par_split`](super::ParallelSlice::par_split) returns.
    Split[] Sync, [&T], Separated, split,
        |p, slice, index| p(&slice[index]),
        |slice, index| {
            let (first, rest) = slice.split_at(index);
            (first, &rest[1..])
        };
    /// Parts that end with separators:
    /// what [`par_split_inclusive`](super::ParallelSlice::par_split_inclusive) returns.
    SplitInclusive[] Sync, [&T], Terminated, split_inclusive,
        |p, slice, index| p(&slice[index]),
        |slice, index| slice.split_at(index + 1);
    /// Parts of items that belong together:
    /// what [`par_chunk_by`](super::ParallelSlice::par_chunk_by) returns.
    ChunkBy[] Sync, [&T, &T], Alike, chunk_by,
        |p, slice, index| index + 1 < slice.len() && !p(&slice[index], &slice[index + 1]),
        |slice, index| slice.split_at(index + 1);
    /// Mutable parts between separators:
    /// what [`par_split_mut`](super::ParallelSliceMut::par_split_mut) returns.
    SplitMut[mut] Send, [&T], Separated, split_mut,
        |p, slice, index| p(&slice[index]),
        |slice, index| {
            let (first, rest) = slice.split_at_mut(index);
            (first, &mut rest[1..])
        };
    /// Mutable parts that end with separators:
    /// what [`par_split_inclusive_mut`](super::ParallelSliceMut::par_split_inclusive_mut) returns.
    SplitInclusiveMut[mut] Send, [&T], Terminated, split_inclusive_mut,
        |p, slice, index| p(&slice[index]),
        |slice, index| slice.split_at_mut(index + 1);
    /// Mutable parts of items that belong together:
    /// what [`par_chunk_by_mut`](super::ParallelSliceMut::par_chunk_by_mut) returns.
    ChunkByMut[mut] Send, [&T, &T], Alike, chunk_by_mut,
        |p, slice, index| index + 1 < slice.len() && !p(&slice[index], &slice[index + 1]),
        |slice, index| slice.split_at_mut(index + 1);
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
