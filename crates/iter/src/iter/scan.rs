//! `inclusive_scan` and `exclusive_scan`: two passes over pieces.
//!
//! 1. Each folder scans its items as they come, without what is before them. It writes the results
//!    to their places in the vector.
//! 2. The pieces are few. One worker joins their totals, from the first to the last: each piece but
//!    the first gets the total of all items before it, its carry.
//! 3. All workers join each result with the carry of its piece.
//!
//! Items of unknown number are collected first.

use super::collect::{Items, Joined, Places, Written, append, collect_unknown};
use super::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use super::{IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use crate::driver::broken;
use sateen_base::unwind::Held;

/// What an item becomes.
trait Rule<T>: Copy + Send {
    /// The total of a piece's items, if its last result is not that.
    type Total: Send;

    /// The total of no items.
    fn begin(self) -> Self::Total;

    /// Writes the results of `items`.
    fn write<'p>(
        self,
        results: Written<'p, T>,
        total: &mut Self::Total,
        items: impl Iterator<Item = T>,
    ) -> Written<'p, T>;

    /// The total of a piece that is not empty.
    fn total<'t>(total: &'t Self::Total, results: &'t [T]) -> Option<&'t T>;

    /// Joins what a piece's items have made with what is before them.
    fn join(self, carry: &T, result: &T) -> T;
}

/// Each result is the total of the items up to its own.
struct Inclusive<'f, F>(&'f F);

impl<F> Clone for Inclusive<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Inclusive<'_, F> {}

impl<T: Send, F: Fn(&T, &T) -> T + Sync> Rule<T> for Inclusive<'_, F> {
    type Total = ();

    fn begin(self) {}

    #[inline]
    fn write<'p>(
        self,
        results: Written<'p, T>,
        (): &mut (),
        items: impl Iterator<Item = T>,
    ) -> Written<'p, T> {
        results.chain(items, |last, item| (self.0)(last, &*Held::new(item)))
    }

    fn total<'t>((): &'t (), results: &'t [T]) -> Option<&'t T> {
        results.last()
    }

    #[inline]
    fn join(self, carry: &T, result: &T) -> T {
        (self.0)(carry, result)
    }
}

/// Each result is the total of the items before its own.
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

impl<T, ID, F> Rule<T> for Exclusive<'_, ID, F>
where
    T: Send,
    ID: Fn() -> T + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    type Total = Held<T>;

    fn begin(self) -> Held<T> {
        Held::new((self.identity)())
    }

    #[inline]
    fn write<'p>(
        self,
        results: Written<'p, T>,
        total: &mut Held<T>,
        items: impl Iterator<Item = T>,
    ) -> Written<'p, T> {
        results.consume_iter(items.map(|item| {
            let next = (self.op)(total, &*Held::new(item));
            std::mem::replace(&mut **total, next)
        }))
    }

    fn total<'t>(total: &'t Held<T>, _results: &'t [T]) -> Option<&'t T> {
        Some(total)
    }

    #[inline]
    fn join(self, carry: &T, result: &T) -> T {
        (self.op)(carry, result)
    }
}

pub(super) fn inclusive<I, F>(items: I, op: &F) -> Vec<I::Item>
where
    I: ParallelIterator<Item: Sync>,
    F: Fn(&I::Item, &I::Item) -> I::Item + Sync,
{
    scan(items, Inclusive(op))
}

pub(super) fn exclusive<I, ID, F>(items: I, identity: &ID, op: &F) -> Vec<I::Item>
where
    I: ParallelIterator<Item: Sync>,
    ID: Fn() -> I::Item + Sync,
    F: Fn(&I::Item, &I::Item) -> I::Item + Sync,
{
    scan(items, Exclusive { identity, op })
}

fn scan<I, R>(items: I, rule: R) -> Vec<I::Item>
where
    I: ParallelIterator<Item: Sync>,
    R: Rule<I::Item> + Sync,
{
    match items.opt_len() {
        Some(len) => scan_known(items, len, rule),
        None => {
            let items = collect_unknown(items).into_vec();
            let len = items.len();
            scan_known(items.into_par_iter(), len, rule)
        }
    }
}

/// What a piece has made.
struct Piece<'p, T, R: Rule<T>> {
    results: Written<'p, T>,
    total: R::Total,
}

/// Gives each folder its places.
struct Pieces<'p, T, R> {
    places: Places<'p, T>,
    rule: R,
}

/// Joins pieces, which are in order. None are lost, and there is one at least.
struct Adjacent;

impl<'p, T: Send, R: Rule<T>> Consumer<T> for Pieces<'p, T, R> {
    type Folder = Scanning<'p, T, R>;
    type Reducer = Adjacent;
    type Result = Vec<Piece<'p, T, R>>;

    fn split_at(self, index: usize) -> (Self, Self, Adjacent) {
        let Self { places, rule } = self;
        let (left, right, Joined) = places.split_at(index);
        (Self { places: left, rule }, Self { places: right, rule }, Adjacent)
    }

    fn into_folder(self) -> Self::Folder {
        let Self { places, rule } = self;
        Scanning { piece: Piece { results: places.into_folder(), total: rule.begin() }, rule }
    }

    fn full(&self) -> bool {
        false
    }

    #[inline]
    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        self.places.extend_folder(&mut folder.piece.results, count)
    }
}

impl<T: Send, R: Rule<T>> UnindexedConsumer<T> for Pieces<'_, T, R> {
    fn split_off_left(&self) -> Self {
        Self { places: self.places.split_off_left(), rule: self.rule }
    }

    fn to_reducer(&self) -> Adjacent {
        Adjacent
    }
}

impl<P> Reducer<Vec<P>> for Adjacent {
    fn reduce(self, mut left: Vec<P>, mut right: Vec<P>) -> Vec<P> {
        left.append(&mut right);
        left
    }
}

struct Scanning<'p, T, R: Rule<T>> {
    piece: Piece<'p, T, R>,
    rule: R,
}

impl<'p, T: Send, R: Rule<T>> Folder<T> for Scanning<'p, T, R> {
    type Result = Vec<Piece<'p, T, R>>;
    const FILLS: bool = false;

    #[inline]
    fn consume(self, item: T) -> Self {
        self.consume_iter(std::iter::once(item))
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, iter: I) -> Self {
        let Self { piece: Piece { results, mut total }, rule } = self;
        let results = rule.write(results, &mut total, iter.into_iter());
        Self { piece: Piece { results, total }, rule }
    }

    fn complete(self) -> Self::Result {
        vec![self.piece]
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

fn scan_known<I, R>(items: I, len: usize, rule: R) -> Vec<I::Item>
where
    I: ParallelIterator<Item: Sync>,
    R: Rule<I::Item> + Sync,
{
    let mut all = Items(Vec::new());
    // How long each piece is, and its total.
    let mut ends = Vec::new();
    append(&mut all.0, len, |places| {
        let pieces = items.drive_unindexed(Pieces { places, rule });
        let results = pieces.into_iter().map(|Piece { results, total }| {
            ends.push((results.len(), total));
            results
        });
        match results.reduce(|left, right| Joined.reduce(left, right)) {
            Some(results) => results,
            None => broken("a scan without a piece"),
        }
    });

    let (mut parts, mut rest) = (Vec::with_capacity(ends.len()), &mut all.0[..]);
    for (len, total) in &ends {
        let (part, others) = rest.split_at_mut(*len);
        if !part.is_empty() {
            parts.push((total, part));
        }
        rest = others;
    }
    // The carry of the second piece is the total of the first; these are of the others.
    let mut carries = Items(Vec::with_capacity(parts.len()));
    let Some(((total, part), others)) = parts.split_first_mut() else { return Vec::new() };
    let first = R::total(total, part);
    if let [between @ .., _last] = &*others {
        for (total, part) in between {
            let both = carries.0.last().or(first).zip(R::total(total, part));
            carries.0.extend(both.map(|(carry, total)| rule.join(carry, total)));
        }
    }
    let carried = first.into_iter().chain(&carries.0).zip(others);
    let work: Vec<_> = carried.map(|(carry, (_, part))| (carry, part)).collect();
    work.into_par_iter().for_each(|(carry, part)| {
        part.par_iter_mut().for_each(|result| *result = rule.join(carry, result));
    });
    drop((carries, parts));
    std::mem::take(&mut all.0)
}
