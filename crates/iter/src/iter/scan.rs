//! `inclusive_scan` and `exclusive_scan`: two passes over pieces.
//!
//! 1. Each folder scans its items as they come, without what is before them.
//! 2. The pieces are few. One worker joins their totals, from the first to the last: each piece but
//!    the first gets the total of all items before it, its carry.
//! 3. All workers join each result with the carry of its piece.

use super::collect::Items;
use super::end::{End, Ended};
use super::plumbing::Folder;
use super::{IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use sateen_base::unwind::Held;
use std::collections::LinkedList;

/// The results of a piece, and what they lead to.
struct Scanned<T> {
    results: Items<T>,
    /// The total of all items, if the last result is not that.
    total: Option<Held<T>>,
}

/// Scanned pieces, in order. None is empty.
struct Pieces<T>(LinkedList<Scanned<T>>);

/// What the folders of an inclusive scan share.
struct Inclusive<'f, F>(&'f F);

impl<F> Clone for Inclusive<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Inclusive<'_, F> {}

pub(super) fn inclusive<I, F>(items: I, op: &F) -> Vec<I::Item>
where
    I: ParallelIterator<Item: Sync>,
    F: Fn(&I::Item, &I::Item) -> I::Item + Sync,
{
    finish(items.drive_unindexed(Ended(Inclusive(op))), op)
}

impl<'f, T, F> End<T> for Inclusive<'f, F>
where
    T: Send,
    F: Fn(&T, &T) -> T + Sync,
{
    type Folder = InclusiveFolder<'f, T, F>;
    type Result = Pieces<T>;

    fn folder(self) -> Self::Folder {
        InclusiveFolder { results: Items(Vec::new()), op: self.0 }
    }

    fn reduce(self, left: Pieces<T>, right: Pieces<T>) -> Pieces<T> {
        left.followed_by(right)
    }
}

struct InclusiveFolder<'f, T, F> {
    results: Items<T>,
    op: &'f F,
}

impl<T, F: Fn(&T, &T) -> T> Folder<T> for InclusiveFolder<'_, T, F> {
    type Result = Pieces<T>;
    const FILLS: bool = false;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        let results = &mut self.results.0;
        let result = match results.last() {
            Some(last) => (self.op)(last, &*Held::new(item)),
            None => item,
        };
        results.push(result);
        self
    }

    fn complete(self) -> Pieces<T> {
        Pieces::of(Scanned { results: self.results, total: None })
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

/// What the folders of an exclusive scan share.
struct Exclusive<'f, ID, F> {
    identity: &'f ID,
    op: &'f F,
}

impl<ID, F> Clone for Exclusive<'_, ID, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<ID, F> Copy for Exclusive<'_, ID, F> {}

pub(super) fn exclusive<I, ID, F>(items: I, identity: &ID, op: &F) -> Vec<I::Item>
where
    I: ParallelIterator<Item: Sync>,
    ID: Fn() -> I::Item + Sync,
    F: Fn(&I::Item, &I::Item) -> I::Item + Sync,
{
    finish(items.drive_unindexed(Ended(Exclusive { identity, op })), op)
}

impl<'f, T, ID, F> End<T> for Exclusive<'f, ID, F>
where
    T: Send,
    ID: Fn() -> T + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    type Folder = ExclusiveFolder<'f, T, F>;
    type Result = Pieces<T>;

    fn folder(self) -> Self::Folder {
        let total = Held::new((self.identity)());
        ExclusiveFolder { results: Items(Vec::new()), total, op: self.op }
    }

    fn reduce(self, left: Pieces<T>, right: Pieces<T>) -> Pieces<T> {
        left.followed_by(right)
    }
}

struct ExclusiveFolder<'f, T, F> {
    results: Items<T>,
    /// What the next result is.
    total: Held<T>,
    op: &'f F,
}

impl<T, F: Fn(&T, &T) -> T> Folder<T> for ExclusiveFolder<'_, T, F> {
    type Result = Pieces<T>;
    const FILLS: bool = false;

    #[inline]
    fn consume(self, item: T) -> Self {
        let Self { mut results, total, op } = self;
        let next = Held::new(op(&total, &*Held::new(item)));
        results.0.push(total.release());
        Self { results, total: next, op }
    }

    fn complete(self) -> Pieces<T> {
        Pieces::of(Scanned { results: self.results, total: Some(self.total) })
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

impl<T> Pieces<T> {
    fn of(piece: Scanned<T>) -> Self {
        let mut pieces = LinkedList::new();
        if !piece.results.0.is_empty() {
            pieces.push_back(piece);
        }
        Self(pieces)
    }

    fn followed_by(mut self, mut other: Self) -> Self {
        self.0.append(&mut other.0);
        self
    }
}

impl<T> Scanned<T> {
    /// The total of all items, behind `carry`.
    fn total_behind<F: Fn(&T, &T) -> T>(&self, carry: &T, op: &F) -> Option<T> {
        self.total.as_deref().or(self.results.0.last()).map(|total| op(carry, total))
    }
}

/// Puts the pieces together.
fn finish<T, F>(pieces: Pieces<T>, op: &F) -> Vec<T>
where
    T: Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    let mut pieces = pieces.0;
    let Some(mut first) = pieces.pop_front() else { return Vec::new() };
    let mut all = Items(std::mem::take(&mut first.results.0));
    let first_len = all.0.len();

    // The carry of the piece behind the first is the first one's total; these are of the others.
    let mut carries = Items(Vec::with_capacity(pieces.len()));
    let mut lens = Vec::with_capacity(pieces.len());
    all.0.reserve(pieces.iter().map(|piece| piece.results.0.len()).sum());
    while let Some(mut piece) = pieces.pop_front() {
        lens.push(piece.results.0.len());
        if !pieces.is_empty() {
            let before = carries.0.last().or(first.total.as_deref()).or(all.0[..first_len].last());
            carries.0.extend(before.and_then(|before| piece.total_behind(before, op)));
        }
        all.0.append(&mut piece.results.0);
    }

    let (head, mut rest) = all.0.split_at_mut(first_len);
    let first_carry = first.total.as_deref().or(head.last());
    let mut parts = Vec::with_capacity(lens.len());
    for (len, carry) in lens.into_iter().zip(first_carry.into_iter().chain(&carries.0)) {
        let (part, others) = rest.split_at_mut(len);
        parts.push((carry, part));
        rest = others;
    }
    parts.into_par_iter().for_each(|(carry, part)| {
        part.par_iter_mut().for_each(|result| *result = op(carry, result));
    });
    std::mem::take(&mut all.0)
}
