//! The iterators that a batch may come from.

use std::collections::vec_deque;
use std::{array, iter, ops, slice, vec};

/// Iterators whose items may be moved into slots that are claimed already.
///
/// A consumer that reaches a claimed slot waits for its item. So between the claim of a batch and
/// its publication nothing may panic and no user code may run. `push_from` therefore takes the
/// iterators of the standard library's containers, of arrays and of ranges, which only move memory.
///
/// Collect any other iterator into a `Vec` first:
/// `iter.by_ref().take(64).collect::<Vec<_>>().into_iter()`.
///
/// # Examples
/// ```
/// let queue = sateen::queue::mpmc::Bounded::new(3);
/// let mut items = vec!["a", "b", "c", "d"].into_iter();
/// assert_eq!(queue.push_from(&mut items), Ok(3));
/// assert_eq!(items.next(), Some("d"));
/// ```
///
/// # Safety
/// `len` is exact: `next` returns exactly `len` items, and meanwhile neither panics nor blocks nor
/// uses a queue.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may run code of its own while slots of the queue are claimed",
    note = "collect a batch first: `.collect::<Vec<_>>().into_iter()`"
)]
pub unsafe trait TrustedItems: ExactSizeIterator {}

// SAFETY: (all of them) their lengths are exact, and `next` moves, copies or counts.
unsafe impl<T> TrustedItems for vec::IntoIter<T> {}
// SAFETY: as above.
unsafe impl<T> TrustedItems for vec::Drain<'_, T> {}
// SAFETY: as above.
unsafe impl<T> TrustedItems for vec_deque::IntoIter<T> {}
// SAFETY: as above.
unsafe impl<T> TrustedItems for vec_deque::Drain<'_, T> {}
// SAFETY: as above.
unsafe impl<T, const N: usize> TrustedItems for array::IntoIter<T, N> {}
// SAFETY: as above.
unsafe impl<T: Copy> TrustedItems for iter::Copied<slice::Iter<'_, T>> {}
// SAFETY: as above.
unsafe impl<T> TrustedItems for iter::Once<T> {}
// SAFETY: as above; it ends early, and its length takes that into account.
unsafe impl<I: TrustedItems> TrustedItems for iter::Take<I> {}
// SAFETY: hands everything on.
unsafe impl<I: TrustedItems + ?Sized> TrustedItems for &mut I {}

macro_rules! ranges {
    ($($number:ty)*) => { $(
        // SAFETY: as above.
        unsafe impl TrustedItems for ops::Range<$number> {}
    )* };
}
ranges!(u8 i8 u16 i16 u32 i32 usize isize);
