//! Chunks of one length, shared or mutable, from the first item on or from the last one back.

use crate::iter::plumbing::Producer;

/// Makes producers. `$at` is where a slice is cut behind `$items` items of its chunks.
macro_rules! producers {
    ($(
        $name:ident [$($mutable:tt)?] $bound:ident, $method:ident, $split:ident,
        |$len:ident, $items:ident| $at:expr, $($swap:ident)?;
    )*) => {$(
        pub(super) struct $name<'data, T> {
            pub(super) slice: &'data $($mutable)? [T],
            /// The length of each chunk but the last. Not 0.
            pub(super) size: usize,
        }

        impl<'data, T: $bound> Producer for $name<'data, T> {
            type Item = &'data $($mutable)? [T];
            type IntoIter = std::slice::$name<'data, T>;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.slice.$method(self.size)
            }

            #[inline]
            fn split_at(self, index: usize) -> (Self, Self) {
                let Self { slice, size } = self;
                let ($len, $items) = (slice.len(), index.saturating_mul(size));
                let parts = slice.$split($at);
                let (first, rest) = producers!(@order parts $($swap)?);
                (Self { slice: first, size }, Self { slice: rest, size })
            }
        }
    )*};
    (@order $parts:ident) => { $parts };
    (@order $parts:ident swapped) => {{ let (rest, first) = $parts; (first, rest) }};
}

producers! {
    Chunks[] Sync, chunks, split_at, |len, items| items.min(len),;
    ChunksMut[mut] Send, chunks_mut, split_at_mut, |len, items| items.min(len),;
    ChunksExact[] Sync, chunks_exact, split_at, |len, items| items.min(len),;
    ChunksExactMut[mut] Send, chunks_exact_mut, split_at_mut, |len, items| items.min(len),;
    RChunks[] Sync, rchunks, split_at, |len, items| len.saturating_sub(items), swapped;
    RChunksMut[mut] Send, rchunks_mut, split_at_mut, |len, items| len.saturating_sub(items),
        swapped;
    RChunksExact[] Sync, rchunks_exact, split_at, |len, items| len.saturating_sub(items), swapped;
    RChunksExactMut[mut] Send, rchunks_exact_mut, split_at_mut,
        |len, items| len.saturating_sub(items), swapped;
}
