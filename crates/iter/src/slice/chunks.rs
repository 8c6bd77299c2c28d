//! Chunks of one length, the last of which may be shorter.

use super::producers;
use crate::iter::indexed::indexed;

macro_rules! chunks {
    ($(
        $(#[$doc:meta])*
        $name:ident [$($mutable:tt)?] $bound:ident;
    )*) => {$(
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Debug)]
        pub struct $name<'data, T> {
            slice: &'data $($mutable)? [T],
            size: usize,
        }

        impl<'data, T> $name<'data, T> {
            /// # Panics
            /// If `size` is 0.
            #[track_caller]
            pub(super) fn new(slice: &'data $($mutable)? [T], size: usize) -> Self {
                assert!(size != 0, "chunk_size must not be zero");
                Self { slice, size }
            }
        }

        indexed! {
            impl['data, T] $name<'data, T> => &'data $($mutable)? [T];
            where { T: $bound }
            len = |this| this.slice.len().div_ceil(this.size);
            with_producer = |this, callback| {
                callback.callback(producers::$name { slice: this.slice, size: this.size })
            };
        }
    )*};
}

chunks! {
    /// Chunks from the first item on:
    /// what [`par_chunks`](super::ParallelSlice::par_chunks) returns.
    Chunks[] Sync;
    /// Mutable chunks from the first item on:
    /// what [`par_chunks_mut`](super::ParallelSliceMut::par_chunks_mut) returns.
    ChunksMut[mut] Send;
    /// Chunks from the last item back:
    /// what [`par_rchunks`](super::ParallelSlice::par_rchunks) returns.
    RChunks[] Sync;
    /// Mutable chunks from the last item back:
    /// what [`par_rchunks_mut`](super::ParallelSliceMut::par_rchunks_mut) returns.
    RChunksMut[mut] Send;
}

impl<T> Clone for Chunks<'_, T> {
    fn clone(&self) -> Self {
        Self { slice: self.slice, size: self.size }
    }
}

impl<T> Clone for RChunks<'_, T> {
    fn clone(&self) -> Self {
        Self { slice: self.slice, size: self.size }
    }
}
