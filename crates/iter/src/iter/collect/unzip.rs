//! `unzip`, `partition` and `partition_map`: one loop fills two collections.
//!
//! A collection is filled by an iterator that it drives itself. So the first gets an iterator that,
//! when it is driven, lets the second be filled by another one. When that is driven, both consumers
//! are known, and the items go to the two at once.

use crate::iter::plumbing::UnindexedConsumer;
use crate::iter::{
    Either, FromParallelIterator, IndexedParallelIterator, IntoParallelIterator, ParallelExtend,
    ParallelIterator,
};
use sateen_base::unwind::Held;

use super::deal::{Deal, Dealt, Halves, Sides, Wanted};

pub(crate) fn unzip<I, A, B, FromA, FromB>(items: I) -> (FromA, FromB)
where
    I: ParallelIterator<Item = (A, B)>,
    A: Send,
    B: Send,
    FromA: Default + Send + ParallelExtend<A>,
    FromB: Default + Send + ParallelExtend<B>,
{
    let mut both = <(FromA, FromB)>::default();
    fill(items, Halves, &mut both.0, &mut both.1);
    both
}

pub(crate) fn unzip_into_vecs<I, A, B>(items: I, left: &mut Vec<A>, right: &mut Vec<B>)
where
    I: IndexedParallelIterator<Item = (A, B)>,
    A: Send,
    B: Send,
{
    left.clear();
    right.clear();
    fill(items, Halves, left, right);
}

pub(crate) fn partition<I, A, B, P>(items: I, predicate: &P) -> (A, B)
where
    I: ParallelIterator,
    A: Default + Send + ParallelExtend<I::Item>,
    B: Default + Send + ParallelExtend<I::Item>,
    P: Fn(&I::Item) -> bool + Sync,
{
    let mut both = <(A, B)>::default();
    fill(items, Wanted(predicate), &mut both.0, &mut both.1);
    both
}

pub(crate) fn partition_map<I, A, B, P, L, R>(items: I, predicate: P) -> (A, B)
where
    I: ParallelIterator,
    A: Default + Send + ParallelExtend<L>,
    B: Default + Send + ParallelExtend<R>,
    P: Fn(I::Item) -> Either<L, R> + Sync + Send,
    L: Send,
    R: Send,
{
    let mut both = <(A, B)>::default();
    fill(items.map(predicate), Sides, &mut both.0, &mut both.1);
    both
}

/// Extends both collections.
fn fill<I, D, A, B>(base: I, deal: D, left: &mut A, right: &mut B)
where
    I: ParallelIterator,
    D: Deal<I::Item>,
    A: ParallelExtend<D::Left>,
    B: ParallelExtend<D::Right> + Send,
{
    left.par_extend(ToLeft { base, deal, right: Extended(right) });
}

/// Makes both collections.
fn make<I, D, A, B>(base: I, deal: D) -> (A, B)
where
    I: ParallelIterator,
    D: Deal<I::Item>,
    A: FromParallelIterator<D::Left>,
    B: FromParallelIterator<D::Right> + Send,
{
    let mut right = None;
    let left = A::from_par_iter(ToLeft { base, deal, right: Made(&mut right) });
    match right {
        Some(right) => (left, right),
        None => not_driven(),
    }
}

#[cold]
#[inline(never)]
fn not_driven() -> ! {
    panic!("a collection did not drive the parallel iterator that it was to take in");
}

/// What takes in the items of an iterator.
trait Sink<T>: Send {
    fn fill<I: ParallelIterator<Item = T>>(self, items: I);
}

/// Extends a collection.
struct Extended<'c, C>(&'c mut C);

impl<T: Send, C: ParallelExtend<T> + Send> Sink<T> for Extended<'_, C> {
    fn fill<I: ParallelIterator<Item = T>>(self, items: I) {
        self.0.par_extend(items);
    }
}

/// Makes a collection.
struct Made<'c, C>(&'c mut Option<C>);

impl<T: Send, C: FromParallelIterator<T> + Send> Sink<T> for Made<'_, C> {
    fn fill<I: ParallelIterator<Item = T>>(self, items: I) {
        *self.0 = Some(C::from_par_iter(items));
    }
}

/// The left items. Driving it fills the right collection, too.
struct ToLeft<I, D, S> {
    base: I,
    deal: D,
    right: S,
}

impl<I, D, S> ParallelIterator for ToLeft<I, D, S>
where
    I: ParallelIterator,
    D: Deal<I::Item>,
    S: Sink<D::Right>,
{
    type Item = D::Left;

    fn drive_unindexed<C: UnindexedConsumer<D::Left>>(self, left: C) -> C::Result {
        let Self { base, deal, right } = self;
        let mut result = None;
        right.fill(ToRight { base, deal, left, result: &mut result });
        match result {
            Some(result) => Held::release(result),
            None => not_driven(),
        }
    }

    fn opt_len(&self) -> Option<usize> {
        if D::TO_BOTH { self.base.opt_len() } else { None }
    }
}

/// The right items. Driving it gives the left ones to their consumer.
struct ToRight<'r, I, D, C, R> {
    base: I,
    deal: D,
    left: C,
    /// Held while the right collection's code runs.
    result: &'r mut Option<Held<R>>,
}

impl<I, D, A> ParallelIterator for ToRight<'_, I, D, A, A::Result>
where
    I: ParallelIterator,
    D: Deal<I::Item>,
    A: UnindexedConsumer<D::Left>,
{
    type Item = D::Right;

    fn drive_unindexed<C: UnindexedConsumer<D::Right>>(self, right: C) -> C::Result {
        let Self { base, deal, left, result } = self;
        let (left, right) = base.drive_unindexed(Dealt::new(left, right, deal));
        *result = Some(Held::new(left));
        right
    }

    fn opt_len(&self) -> Option<usize> {
        if D::TO_BOTH { self.base.opt_len() } else { None }
    }
}

impl<A, B, FromA, FromB> FromParallelIterator<(A, B)> for (FromA, FromB)
where
    A: Send,
    B: Send,
    FromA: FromParallelIterator<A>,
    FromB: FromParallelIterator<B> + Send,
{
    fn from_par_iter<I: IntoParallelIterator<Item = (A, B)>>(par_iter: I) -> Self {
        make(par_iter.into_par_iter(), Halves)
    }
}

impl<A, B, ExtendA, ExtendB> ParallelExtend<(A, B)> for (ExtendA, ExtendB)
where
    A: Send,
    B: Send,
    ExtendA: ParallelExtend<A>,
    ExtendB: ParallelExtend<B> + Send,
{
    fn par_extend<I: IntoParallelIterator<Item = (A, B)>>(&mut self, par_iter: I) {
        fill(par_iter.into_par_iter(), Halves, &mut self.0, &mut self.1);
    }
}

impl<L, R, FromL, FromR> FromParallelIterator<Either<L, R>> for (FromL, FromR)
where
    L: Send,
    R: Send,
    FromL: FromParallelIterator<L>,
    FromR: FromParallelIterator<R> + Send,
{
    fn from_par_iter<I: IntoParallelIterator<Item = Either<L, R>>>(par_iter: I) -> Self {
        make(par_iter.into_par_iter(), Sides)
    }
}

impl<L, R, ExtendL, ExtendR> ParallelExtend<Either<L, R>> for (ExtendL, ExtendR)
where
    L: Send,
    R: Send,
    ExtendL: ParallelExtend<L>,
    ExtendR: ParallelExtend<R> + Send,
{
    fn par_extend<I: IntoParallelIterator<Item = Either<L, R>>>(&mut self, par_iter: I) {
        fill(par_iter.into_par_iter(), Sides, &mut self.0, &mut self.1);
    }
}
