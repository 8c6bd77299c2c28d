//! Parallel loops over [`join`](crate::join).
//!
//! A loop offers one half of its iterations to thieves, and works the other half off in chunks of
//! about five microseconds. It looks at its offer between chunks, and halves again when the offer
//! was taken. So a loop that gets no help is split only a logarithmic number of times.
//!
//! It begins with one iteration, or with up to eight if the last loop from the same place was
//! quick: at most an eighth of it, rounded up. Where less than half of the task's stack is left, it
//! offers one half and no more.
//!
//! Source: lazy binary splitting, Tzannes et al. 2010, with chunks sized by time.

mod fold;
mod indices;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod lazy;
mod map;
mod merge;
pub(crate) mod piece;
#[cfg(not(target_family = "wasm"))]
mod site;
mod sort;

#[cfg(target_family = "wasm")]
pub(crate) use crate::inline::lazy;

pub use sort::{par_sort, par_sort_unstable, sort_by};

use crate::unwind::Held;
use fold::fold;
use indices::Indices;
use std::ops::Range;

/// Calls `f` for every index of `range`, in parallel; returns when all calls are done.
///
/// `range` is a `Range<usize>`. For the items of a collection take its `par_iter` or
/// `par_iter_mut`, and `for_each`; `with_min_len` sets how many items stay together.
///
/// # Panics
/// With a panic of `f`; some of the other calls may be skipped then.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
/// let sum = AtomicUsize::new(0);
/// sateen::par_for(0..1000, |i| {
///     sum.fetch_add(i, Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// ```
///
/// Calls share what they capture, so a race does not compile:
///
/// ```compile_fail
/// let mut sum = 0;
/// sateen::par_for(0..1000, |i| sum += i);
/// ```
pub fn par_for<R, F>(range: R, f: F)
where
    R: Indices,
    F: Fn(R::Index) + Sync,
{
    let each = |piece: Range<usize>| piece.for_each(|i| f(R::index(i)));
    fold(range.range(), &|| (), &|(), piece| each(piece), &|(), ()| ());
}

/// Returns the results of `f` for every item, in order.
///
/// # Panics
/// With a panic of `f`; results so far are dropped.
///
/// ```
/// let lengths = sateen::par_map(&["a", "bb", "ccc"], |word| word.len());
/// assert_eq!(lengths, [1, 2, 3]);
/// ```
pub fn par_map<T, R, F>(items: &[T], f: F) -> Vec<R>
where
    T: Sync,
    R: Send,
    F: Fn(&T) -> R + Sync,
{
    map::map(items, f)
}

/// Combines `map(i)` for every index of `range`.
///
/// `combine` must be associative. It need not be commutative, because the order is kept. `identity`
/// is the start of each piece, and the result for an empty range. For items of a slice [`par_fold`]
/// is faster.
///
/// # Panics
/// With a panic of one of the functions.
///
/// ```
/// let max = sateen::par_reduce(0..1000, || 0, |i| i * 7 % 1000, usize::max);
/// assert_eq!(max, 999);
/// ```
pub fn par_reduce<R, I, M, C>(range: Range<usize>, identity: I, map: M, combine: C) -> R
where
    R: Send,
    I: Fn() -> R + Sync,
    M: Fn(usize) -> R + Sync,
    C: Fn(R, R) -> R + Sync,
{
    let step = |acc: R, i| {
        let acc = Held::new(acc);
        let value = map(i);
        combine(acc.release(), value)
    };
    fold(range, &identity, &|acc, piece| piece.fold(acc, step), &combine)
}

/// Folds pieces of `items` into values, and combines the values.
///
/// `add` gets a value and the piece that follows what is in it. It sees whole pieces, so the
/// compiler can work on several items at once. `combine` must be associative; it need not be
/// commutative, since the order is kept. `identity` makes each first value, and the result for an
/// empty slice. Where pieces end is unspecified.
///
/// # Panics
/// With a panic of one of the functions.
///
/// ```
/// let values: Vec<u64> = (0..1000).collect();
/// let add = |sum: u64, piece: &[u64]| sum + piece.iter().sum::<u64>();
/// assert_eq!(sateen::par_fold(&values, || 0, add, |a, b| a + b), 499_500);
/// ```
pub fn par_fold<T, R, I, F, C>(items: &[T], identity: I, add: F, combine: C) -> R
where
    T: Sync,
    R: Send,
    I: Fn() -> R + Sync,
    F: Fn(R, &[T]) -> R + Sync,
    C: Fn(R, R) -> R + Sync,
{
    let piece = |acc, piece: Range<usize>| add(acc, &items[piece]);
    fold(0..items.len(), &identity, &piece, &combine)
}

/// Calls `f` in parallel with the index of each chunk and the chunk. Chunks have `size` items; the
/// last may have fewer.
///
/// # Panics
/// If `size` is 0; with a panic of `f`.
///
/// ```
/// let mut data = [1; 10];
/// sateen::par_chunks_mut(&mut data, 4, |index, chunk| chunk.fill(index));
/// assert_eq!(data, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
/// ```
pub fn par_chunks_mut<T, F>(items: &mut [T], size: usize, f: F)
where
    T: Send,
    F: Fn(usize, &mut [T]) + Sync,
{
    map::chunks_mut(items, size, f);
}
