//! Overlapping windows.

use crate::iter::indexed::indexed;
use crate::iter::plumbing::Producer;

/// All windows of a length: what [`par_windows`](super::ParallelSlice::par_windows) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Debug)]
pub struct Windows<'data, T> {
    slice: &'data [T],
    size: usize,
}

impl<'data, T> Windows<'data, T> {
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    pub(super) fn new(slice: &'data [T], size: usize) -> Self {
        assert!(size != 0, "window_size must not be zero");
        Self { slice, size }
    }
}

impl<T> Clone for Windows<'_, T> {
    fn clone(&self) -> Self {
        Self { slice: self.slice, size: self.size }
    }
}

indexed! {
    impl['data, T] Windows<'data, T> => &'data [T];
    where { T: Sync }
    len = |this| count(this.slice.len(), this.size);
    with_producer = |this, callback| {
        callback.callback(Opened { slice: this.slice, size: this.size })
    };
}

/// How many windows of `size` items there are in `len` items.
fn count(len: usize, size: usize) -> usize {
    len.saturating_sub(size - 1)
}

/// Cuts before the window at `index`. The parts overlap by all but one item of a window.
fn split_windows<T>(slice: &[T], size: usize, index: usize) -> (&[T], &[T]) {
    let end = index.saturating_add(size - 1).min(slice.len());
    // There may be items in no part that has a window.
    let left = if index == 0 { &slice[..0] } else { &slice[..end] };
    (left, &slice[index.min(slice.len())..])
}

struct Opened<'data, T> {
    slice: &'data [T],
    size: usize,
}

impl<'data, T: Sync> Producer for Opened<'data, T> {
    type Item = &'data [T];
    type IntoIter = std::slice::Windows<'data, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.slice.windows(self.size)
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { slice, size } = self;
        let (left, right) = split_windows(slice, size, index);
        (Self { slice: left, size }, Self { slice: right, size })
    }
}

/// All windows of `N` items:
/// what [`par_array_windows`](super::ParallelSlice::par_array_windows) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Debug)]
pub struct ArrayWindows<'data, T, const N: usize> {
    slice: &'data [T],
}

impl<'data, T, const N: usize> ArrayWindows<'data, T, N> {
    pub(super) fn new(slice: &'data [T]) -> Self {
        const { assert!(N != 0, "windows of 0 items") };
        Self { slice }
    }
}

impl<T, const N: usize> Clone for ArrayWindows<'_, T, N> {
    fn clone(&self) -> Self {
        Self { slice: self.slice }
    }
}

indexed! {
    impl['data, T, const N: usize] ArrayWindows<'data, T, N> => &'data [T; N];
    where { T: Sync }
    len = |this| count(this.slice.len(), N);
    with_producer = |this, callback| callback.callback(OpenedArrays(this.slice));
}

struct OpenedArrays<'data, T, const N: usize>(&'data [T]);

/// A window as an array.
type ToArray<'data, T, const N: usize> = fn(&'data [T]) -> &'data [T; N];

impl<'data, T: Sync, const N: usize> Producer for OpenedArrays<'data, T, N> {
    type Item = &'data [T; N];
    type IntoIter = std::iter::Map<std::slice::Windows<'data, T>, ToArray<'data, T, N>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let to_array: ToArray<'data, T, N> = |window| match window.first_chunk() {
            Some(array) => array,
            None => unreachable!("a window of {N} items is shorter"),
        };
        self.0.windows(N).map(to_array)
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = split_windows(self.0, N, index);
        (Self(left), Self(right))
    }
}
