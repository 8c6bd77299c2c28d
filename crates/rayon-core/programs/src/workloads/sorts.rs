//! Two sorts by joins of their own: what people write who do not use the library's.

use crate::draw::numbers;
use crate::{Made, Workload};
use rayon::join;

/// Quicksort sorts so few items by insertion.
const FEW: usize = 24;
/// Mergesort leaves runs of this length to the standard library.
const RUN: usize = 1_024;
/// A merge of so few items is not halved.
const PIECE: usize = 4_096;

struct Sort {
    sort: fn(&mut [u64], &mut [u64]),
    begin: Vec<u64>,
    items: Vec<u64>,
    scratch: Vec<u64>,
    end: Vec<u64>,
}

/// The size is the number of items.
pub(crate) fn quick(items: usize) -> Made {
    make(items, |items, _| quicksort(items))
}

/// The size is the number of items.
pub(crate) fn merge(items: usize) -> Made {
    make(items, |items, scratch| mergesort(items, scratch, false))
}

fn make(items: usize, sort: fn(&mut [u64], &mut [u64])) -> Made {
    let begin: Vec<u64> = numbers().take(items).collect();
    let mut end = begin.clone();
    end.sort_unstable();
    Ok(Box::new(Sort { sort, items: begin.clone(), scratch: vec![0; items], begin, end }))
}

fn quicksort(items: &mut [u64]) {
    if items.len() <= FEW {
        return insertion(items);
    }
    let (low, high) = partition(items);
    join(|| quicksort(low), || quicksort(high));
}

fn insertion(items: &mut [u64]) {
    for i in 1..items.len() {
        let item = items[i];
        let place = items[..i].partition_point(|other| *other <= item);
        items.copy_within(place..i, place + 1);
        items[place] = item;
    }
}

/// Returns what is less than the median of three items, and what is not, without that item, which
/// lies between.
fn partition(items: &mut [u64]) -> (&mut [u64], &mut [u64]) {
    let last = items.len() - 1;
    let mut three = [0, last / 2, last];
    three.sort_unstable_by_key(|i| items[*i]);
    items.swap(three[1], last);
    let pivot = items[last];
    let mut less = 0;
    for i in 0..last {
        // Without a branch that a processor cannot foresee.
        let is_less = items[i] < pivot;
        items.swap(i, less);
        less += usize::from(is_less);
    }
    items.swap(less, last);
    let (low, rest) = items.split_at_mut(less);
    (low, &mut rest[1..])
}

/// Sorts `items`; if `across`, into `other`.
fn mergesort(items: &mut [u64], other: &mut [u64], across: bool) {
    if items.len() <= RUN {
        items.sort();
        if across {
            other.copy_from_slice(items);
        }
        return;
    }
    let middle = items.len() / 2;
    let ((a, b), (x, y)) = (items.split_at_mut(middle), other.split_at_mut(middle));
    join(|| mergesort(a, x, !across), || mergesort(b, y, !across));
    if across { merge_into(a, b, other) } else { merge_into(x, y, items) }
}

fn merge_into(a: &[u64], b: &[u64], to: &mut [u64]) {
    let (a, b) = if a.len() < b.len() { (b, a) } else { (a, b) };
    if to.len() <= PIECE {
        let (mut a, mut b) = (a, b);
        for place in to {
            let first = match (a, b) {
                ([x, ..], [y, ..]) if y < x => &mut b,
                ([], _) => &mut b,
                _ => &mut a,
            };
            *place = first[0];
            *first = &first[1..];
        }
        return;
    }
    let i = a.len() / 2;
    let k = b.partition_point(|item| *item < a[i]);
    let (low, high) = to.split_at_mut(i + k);
    join(|| merge_into(&a[..i], &b[..k], low), || merge_into(&a[i..], &b[k..], high));
}

impl Workload for Sort {
    fn reset(&mut self) {
        self.items.copy_from_slice(&self.begin);
    }

    fn run(&mut self) {
        (self.sort)(&mut self.items, &mut self.scratch);
    }

    fn check(&self) -> Result<(), String> {
        let wrong = self.items.iter().zip(&self.end).position(|(found, wanted)| found != wanted);
        wrong.map_or(Ok(()), |i| Err(format!("item {i} is not in its place")))
    }
}
