//! Chunks of exactly one length, and the items that make no whole chunk.

use super::producers;
use crate::iter::indexed::indexed;

macro_rules! chunks_exact {
    ($(
        $(#[$doc:meta])*
        $name:ident [$($mutable:tt)?] $bound:ident,
        |$slice:ident, $left_over:ident| $parts:expr;
    )*) => {$(
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Debug)]
        pub struct $name<'data, T> {
            slice: &'data $($mutable)? [T],
            remainder: &'data $($mutable)? [T],
            size: usize,
        }

        impl<'data, T> $name<'data, T> {
            /// # Panics
            /// If `size` is 0.
            #[track_caller]
            pub(super) fn new($slice: &'data $($mutable)? [T], size: usize) -> Self {
                assert!(size != 0, "chunk_size must not be zero");
                let $left_over = $slice.len() % size;
                let (slice, remainder) = $parts;
                Self { slice, remainder, size }
            }
        }

        indexed! {
            impl['data, T] $name<'data, T> => &'data $($mutable)? [T];
            where { T: $bound }
            len = |this| this.slice.len() / this.size;
            with_producer = |this, callback| {
                callback.callback(producers::$name { slice: this.slice, size: this.size })
            };
        }
    )*};
}

chunks_exact! {
    /// Whole chunks from the first item on:
    /// what [`par_chunks_exact`](super::ParallelSlice::par_chunks_exact) returns.
    ChunksExact[] Sync, |slice, left_over| slice.split_at(slice.len() - left_over);
    /// Whole mutable chunks from the first item on:
    /// what [`par_chunks_exact_mut`](super::ParallelSliceMut::par_chunks_exact_mut) returns.
    ChunksExactMut[mut] Send, |slice, left_over| slice.split_at_mut(slice.len() - left_over);
    /// Whole chunks from the last item back:
    /// what [`par_rchunks_exact`](super::ParallelSlice::par_rchunks_exact) returns.
    RChunksExact[] Sync, |slice, left_over| {
        let (remainder, slice) = slice.split_at(left_over);
        (slice, remainder)
    };
    /// Whole mutable chunks from the last item back:
    /// what [`par_rchunks_exact_mut`](super::ParallelSliceMut::par_rchunks_exact_mut) returns.
    RChunksExactMut[mut] Send, |slice, left_over| {
        let (remainder, slice) = slice.split_at_mut(left_over);
        (slice, remainder)
    };
}

macro_rules! shared {
    ($name:ident, $method:ident, $remainder:literal) => {
        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                Self { slice: self.slice, remainder: self.remainder, size: self.size }
            }
        }

        impl<'data, T> $name<'data, T> {
            /// The items that make no whole chunk. No chunk has them.
            ///
            /// ```
            /// use sateen::prelude::*;
            #[doc = concat!("let pairs = [1, 2, 3].", stringify!($method), "(2);")]
            #[doc = concat!("assert_eq!(pairs.remainder(), ", $remainder, ");")]
            /// ```
            pub fn remainder(&self) -> &'data [T] {
                self.remainder
            }
        }
    };
}
shared!(ChunksExact, par_chunks_exact, "[3]");
shared!(RChunksExact, par_rchunks_exact, "[1]");

macro_rules! mutable {
    ($name:ident, $method:ident, $remainder:literal) => {
        impl<'data, T> $name<'data, T> {
            /// The items that make no whole chunk. No chunk has them.
            ///
            /// ```
            /// use sateen::prelude::*;
            /// let mut numbers = [1, 2, 3];
            #[doc = concat!("let rest = numbers.", stringify!($method), "(2).into_remainder();")]
            #[doc = concat!("assert_eq!(rest, ", $remainder, ");")]
            /// ```
            pub fn into_remainder(self) -> &'data mut [T] {
                self.remainder
            }

            /// [`into_remainder`](Self::into_remainder), while the iterator is kept.
            ///
            /// ```
            /// use sateen::prelude::*;
            /// let mut numbers = [1, 2, 3];
            #[doc = concat!("let mut pairs = numbers.", stringify!($method), "(2);")]
            #[doc = concat!("assert_eq!(pairs.remainder(), ", $remainder, ");")]
            /// ```
            pub fn remainder(&mut self) -> &mut [T] {
                self.remainder
            }

            /// Takes the remainder out. Later calls return no items.
            ///
            /// ```
            /// use sateen::prelude::*;
            /// let mut numbers = [1, 2, 3];
            #[doc = concat!("let mut pairs = numbers.", stringify!($method), "(2);")]
            /// let rest = pairs.take_remainder();
            /// pairs.for_each(|pair| pair.reverse());
            #[doc = concat!("assert_eq!(rest, ", $remainder, ");")]
            /// ```
            pub fn take_remainder(&mut self) -> &'data mut [T] {
                std::mem::take(&mut self.remainder)
            }
        }
    };
}
mutable!(ChunksExactMut, par_chunks_exact_mut, "[3]");
mutable!(RChunksExactMut, par_rchunks_exact_mut, "[1]");
