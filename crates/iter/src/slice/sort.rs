//! Sorts: the functions of the user's, for the parallel merge sort of the runtime.

use crate::iter::collect::Items;
use crate::iter::flag::{Armed, Flag};
use crate::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use crate::vec::all_of;
use sateen_base::unwind::{Held, discard};
use sateen_runtime::iter::sort_by;
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
    // Unstable sorts are faster, and indices keep equal items in order.
    by_unstable(&mut keys.0, &|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
    // One thread drops the keys: allocators free what other threads allocate one after the other.
    let mut sources: Vec<usize> = all_of(&mut keys.0).map(|(_, i)| i).collect();
    // Along each cycle of places, every place takes the item of its source. The item that was at
    // the cycle's start moves along, to the place whose source the start is.
    for start in 0..items.len() {
        let mut place = start;
        loop {
            let source = std::mem::replace(&mut sources[place], place);
            if source == start {
                break;
            }
            items.swap(place, source);
            place = source;
        }
    }
}
