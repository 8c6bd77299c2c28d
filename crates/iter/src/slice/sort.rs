//! Sorts: the functions of the user's, for the parallel merge sort of the runtime.

use crate::iter::collect::Items;
use crate::iter::flag::{Armed, Flag};
use crate::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use crate::vec::all_of;
use sateen_base::unwind::{Held, discard};
use sateen_runtime::iter::{sort_by, workers};
use sateen_runtime::join;
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

pub(super) fn natural<T: Ord + Send>(items: &mut [T]) {
    by(items, &T::cmp);
}

pub(super) fn natural_unstable<T: Ord + Send>(items: &mut [T]) {
    by_unstable(items, &T::cmp);
}

pub(super) fn by<T: Send>(items: &mut [T], compare: &(impl Fn(&T, &T) -> Ordering + Sync)) {
    let serial = |piece: &mut [T]| {
        in_any_order(|thrown| piece.sort_by(|a, b| noted(thrown, || compare(a, b))));
    };
    sort_by(items, &serial, &|a, b| compare(a, b) == Ordering::Less);
}

pub(super) fn by_unstable<T: Send>(
    items: &mut [T],
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    let serial = |piece: &mut [T]| {
        in_any_order(|thrown| piece.sort_unstable_by(|a, b| noted(thrown, || compare(a, b))));
    };
    sort_by(items, &serial, &|a, b| compare(a, b) == Ordering::Less);
}

/// Runs a sort of the standard library. It may panic where it meets answers that contradict each
/// other; here the items then stay in the order that it left. Answers like these are those of
/// programs that were written for rayon, whose sorts take any.
///
/// The sort's comparisons must be [`noted`], since their panics go on.
fn in_any_order(sort: impl FnOnce(&Flag)) {
    let thrown = Flag::new();
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| sort(&thrown))) {
        if thrown.is_raised() {
            resume_unwind(payload);
        }
        discard(payload);
    }
}

/// Calls the user's comparison; its panic raises the flag.
#[inline]
fn noted(thrown: &Flag, compare: impl FnOnce() -> Ordering) -> Ordering {
    let armed = Armed(thrown);
    let answer = compare();
    armed.disarm();
    answer
}

/// Up to this many items, one call of the standard library.
const SERIAL: usize = 2048;
/// The sample whose middle parts the items: one part in twenty is off by more than an eighth.
const SAMPLE: usize = 63;

/// Sorts items that are different, and costly to compare: what an item owns is elsewhere in memory.
///
/// Merges look at that in random order, and each look waits for the one before. A partition looks
/// at it in the order in which it was made, and compares with one item, so its looks overlap.
fn by_partitions<T: Send>(items: &mut [T], compare: &(impl Fn(&T, &T) -> Ordering + Sync)) {
    // Into a runtime first: the number of parts depends on its workers.
    let ((), ()) = join(
        || {
            // A few for each worker, because they are not alike.
            let parts = workers() * 8;
            let levels = if parts > 8 { parts.next_power_of_two().ilog2() } else { 0 };
            partitioned(items, levels, compare);
        },
        || (),
    );
}

/// Parts the items `levels` times, then sorts the parts.
fn partitioned<T: Send>(
    items: &mut [T],
    levels: u32,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    let serial = |piece: &mut [T]| {
        in_any_order(|thrown| piece.sort_unstable_by(|a, b| noted(thrown, || compare(a, b))));
    };
    if levels == 0 || items.len() <= SERIAL {
        return serial(items);
    }
    // The sample's items go to the front, and its middle one to the very first place.
    let step = items.len() / SAMPLE;
    (0..SAMPLE).for_each(|i| items.swap(i, i * step));
    serial(&mut items[..SAMPLE]);
    items.swap(0, SAMPLE / 2);
    let less = match items.split_first_mut() {
        Some((pivot, others)) => partition(others, |item| compare(item, pivot) == Ordering::Less),
        None => 0,
    };
    items.swap(0, less);
    let (left, right) = items.split_at_mut(less);
    join(
        || partitioned(left, levels - 1, compare),
        || partitioned(&mut right[1..], levels - 1, compare),
    );
}

/// Moves the items that are `less` before the others, and counts them.
fn partition<T>(items: &mut [T], less: impl Fn(&T) -> bool) -> usize {
    let mut count = 0;
    for i in 0..items.len() {
        // No branch on the answer, because that would be as good as random.
        let is_less = less(&items[i]);
        items.swap(count, i);
        count += usize::from(is_less);
    }
    count
}

/// Compares by keys.
pub(super) fn keys<T, K: Ord>(f: &(impl Fn(&T) -> K + Sync)) -> impl Fn(&T, &T) -> Ordering + Sync {
    |a, b| {
        // If the other key or the comparison panics, the first panic goes on.
        let a = Held::new(f(a));
        let b = Held::new(f(b));
        a.cmp(&b)
    }
}

/// Sorts keys with the indices of their items. No item moves before that is done.
pub(super) fn by_cached_key<T, K, F>(items: &mut [T], f: &F)
where
    T: Send,
    K: Ord + Send,
    F: Fn(&T) -> K + Sync,
{
    let numbered = items.par_iter_mut().enumerate().map(|(index, item)| (f(item), index));
    let mut keys: Items<(K, usize)> = Items(numbered.collect());
    // Indices keep equal items in order.
    by_partitions(&mut keys.0, &|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
    let sources: Vec<usize> = keys.0.iter().map(|key| key.1).collect();
    // One thread drops all keys: allocators free what other threads allocate one after the other.
    // A panic of a destructor goes on when the items have moved.
    join(|| permute(items, sources), || drop(all_of(&mut keys.0)));
}

/// Moves to each place the item of its source. The sources are all places.
fn permute<T>(items: &mut [T], mut sources: Vec<usize>) {
    for place in 0..items.len() {
        // The item has moved if its place has been filled: to that place's source.
        let mut source = sources[place];
        while source < place {
            source = sources[source];
        }
        sources[place] = source;
        items.swap(place, source);
    }
}
