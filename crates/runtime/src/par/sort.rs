//! Parallel merge sort: the standard library sorts pieces, then parallel merges join them.
//!
//! Panic safety: the slice owns the items; the buffer holds bitwise copies that are never dropped.
//! Whenever a comparison may panic, each range of the slice holds a permutation of its items, or
//! the merge that overwrites it restores one when it unwinds.

use super::merge::{Run, merge};
use crate::{current_num_threads, join};
use std::mem::MaybeUninit;

/// Up to this many items are sorted by one call of the standard library.
const SERIAL: usize = 4096;
/// Pieces for each worker: several, so that one slow piece does not keep the others waiting.
const PIECES_PER_WORKER: usize = 2;

/// Sorts in parallel and stably.
///
/// Takes as much extra memory as the slice.
///
/// # Panics
/// With a panic of the comparison; the slice then holds all its items in some order.
///
/// ```
/// let mut words = ["pear", "apple", "fig"];
/// sateen::par_sort(&mut words);
/// assert_eq!(words, ["apple", "fig", "pear"]);
/// ```
pub fn par_sort<T: Ord + Send>(items: &mut [T]) {
    sort_by(items, &|piece: &mut [T]| piece.sort(), &T::lt);
}

/// Sorts in parallel; equal items may be reordered. Faster than [`par_sort`] on most data.
///
/// Takes as much extra memory as the slice.
///
/// # Panics
/// As [`par_sort`].
///
/// ```
/// let mut data = [3, 1, 2];
/// sateen::par_sort_unstable(&mut data);
/// assert_eq!(data, [1, 2, 3]);
/// ```
pub fn par_sort_unstable<T: Ord + Send>(items: &mut [T]) {
    sort_by(items, &|piece: &mut [T]| piece.sort_unstable(), &T::lt);
}

/// Sorts in parallel. `serial` sorts the pieces, by the same order as `is_less`. The sort is stable
/// if `serial` is.
///
/// # Panics
/// With a panic of one of the functions; the slice then holds all its items in some order. If
/// `is_less` is not a consistent order, the order of the items is unspecified.
pub fn sort_by<T: Send>(
    items: &mut [T],
    serial: &(impl Fn(&mut [T]) + Sync),
    is_less: &(impl Fn(&T, &T) -> bool + Sync),
) {
    if items.len() <= SERIAL || size_of::<T>() == 0 {
        return serial(items);
    }
    // Enter a runtime first: the number of pieces depends on its workers.
    let ((), ()) = join(
        || {
            let workers = current_num_threads();
            let pieces = (workers * PIECES_PER_WORKER).next_power_of_two();
            if workers == 1 {
                return serial(items);
            }
            let leaf = items.len().div_ceil(pieces).max(SERIAL / 2);
            let mut buffer: Vec<MaybeUninit<T>> = Vec::with_capacity(items.len());
            // SAFETY: uninitialised items of this type are valid, and the capacity is there.
            unsafe { buffer.set_len(items.len()) };
            sort_into(items, &mut buffer, leaf, false, serial, is_less);
        },
        || (),
    );
}

/// Sorts `items`, and leaves the result in `buffer` or, without `into_buffer`, in place. In both
/// cases `items` holds a permutation afterwards, even after a panic.
fn sort_into<T: Send>(
    items: &mut [T],
    buffer: &mut [MaybeUninit<T>],
    leaf: usize,
    into_buffer: bool,
    serial: &(impl Fn(&mut [T]) + Sync),
    is_less: &(impl Fn(&T, &T) -> bool + Sync),
) {
    let len = items.len();
    if len <= leaf {
        serial(items);
        if into_buffer {
            // SAFETY: both are `len` long and do not overlap; the copy is never dropped.
            unsafe {
                std::ptr::copy_nonoverlapping(items.as_ptr(), buffer.as_mut_ptr().cast(), len)
            };
        }
        return;
    }
    let middle = len / 2;
    {
        let (left, right) = items.split_at_mut(middle);
        let (left_buffer, right_buffer) = buffer.split_at_mut(middle);
        join(
            || sort_into(left, left_buffer, leaf, !into_buffer, serial, is_less),
            || sort_into(right, right_buffer, leaf, !into_buffer, serial, is_less),
        );
    }
    let (source, target) = if into_buffer {
        (items.as_ptr(), buffer.as_mut_ptr().cast::<T>())
    } else {
        (buffer.as_ptr().cast::<T>(), items.as_mut_ptr())
    };
    let restore = Restore { source, target, len };
    // SAFETY: the two halves of the source are sorted and initialised, the target is as long and
    // disjoint, and both are borrowed here for writing.
    unsafe {
        let left = Run::new(source, middle);
        let right = Run::new(source.add(middle), len - middle);
        merge(left, right, target, is_less);
    }
    std::mem::forget(restore);
}

/// Copies the whole source over a half-written target. If the target is the buffer, that is
/// unnecessary but harmless.
struct Restore<T> {
    source: *const T,
    target: *mut T,
    len: usize,
}

impl<T> Drop for Restore<T> {
    fn drop(&mut self) {
        // SAFETY: source and target are disjoint and `len` long; see `sort_into`.
        unsafe { std::ptr::copy_nonoverlapping(self.source, self.target, self.len) }
    }
}
