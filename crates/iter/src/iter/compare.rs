//! `cmp`, `eq` and their like: item by item, as `std` compares iterators.

use super::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::cmp::Ordering;

pub(super) fn cmp<A, B>(a: A, b: B) -> Ordering
where
    A: IndexedParallelIterator<Item: Ord>,
    B: IntoParallelIterator<Item = A::Item, Iter: IndexedParallelIterator>,
{
    let b = b.into_par_iter();
    let lengths = a.len().cmp(&b.len());
    let ordering = a.zip(b).map(|(x, y)| x.cmp(&y)).find_first(|o| *o != Ordering::Equal);
    ordering.unwrap_or(lengths)
}

pub(super) fn partial_cmp<A, B>(a: A, b: B) -> Option<Ordering>
where
    A: IndexedParallelIterator<Item: PartialOrd<B::Item>>,
    B: IntoParallelIterator<Iter: IndexedParallelIterator>,
{
    let b = b.into_par_iter();
    let lengths = a.len().cmp(&b.len());
    let differs = |ordering: &Option<Ordering>| *ordering != Some(Ordering::Equal);
    let ordering = a.zip(b).map(|(x, y)| x.partial_cmp(&y)).find_first(differs);
    ordering.unwrap_or(Some(lengths))
}

pub(super) fn eq<A, B>(a: A, b: B) -> bool
where
    A: IndexedParallelIterator<Item: PartialEq<B::Item>>,
    B: IntoParallelIterator<Iter: IndexedParallelIterator>,
{
    let b = b.into_par_iter();
    a.len() == b.len() && a.zip(b).all(|(x, y)| x == y)
}
