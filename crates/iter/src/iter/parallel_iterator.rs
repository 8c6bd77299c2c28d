//! The trait of all parallel iterators.

use super::plumbing::UnindexedConsumer;
use super::private::Try;
use super::{
    Chain, Cloned, Copied, Either, Filter, FilterMap, FlatMap, FlatMapIter, Flatten, FlattenIter,
    Fold, FoldWith, FromParallelIterator, Inspect, Intersperse, IntoParallelIterator, Map, MapInit,
    MapWith, PanicFuse, ParallelExtend, SkipAny, SkipAnyWhile, TakeAny, TakeAnyWhile, TryFold,
    TryFoldWith, Update, WhileSome,
};
use super::{
    collect, collect::unzip, find, find_first_last, for_each, methods, reduce, scan, sum,
    try_reduce,
};
use std::cmp::Ordering;
use std::collections::LinkedList;
use std::iter::{Product, Sum};

/// A parallel iterator: items that go through a chain of adapters to an end, in pieces on all
/// workers that are idle.
///
/// The order of the items is kept where it can be seen: in what [`collect`](Self::collect) returns,
/// and in the order of the arguments of `reduce`. Functions are called in no particular order.
///
/// # Panics
/// A method that drives the iterator panics with a panic of the user's code. Pieces that are under
/// way go on until they end.
///
/// ```
/// use sateen::prelude::*;
/// let odd: Vec<_> = (0..10).into_par_iter().filter(|n| n % 2 == 1).collect();
/// assert_eq!(odd, [1, 3, 5, 7, 9]);
/// ```
///
/// Functions are shared by the workers, so a race does not compile:
///
/// ```compile_fail
/// use sateen::prelude::*;
/// let mut sum = 0;
/// (0..10).into_par_iter().for_each(|n| sum += n);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parallel iterator",
    label = "no parallel iterator",
    note = "call `par_iter`, `par_iter_mut` or `into_par_iter` first; \
            functions must be `Sync` and items `Send`"
)]
pub trait ParallelIterator: Sized + Send {
    /// The type of the items.
    type Item: Send;

    /// Drives `consumer` with the items. Called by ends, with consumers of theirs.
    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>;

    /// The number of items, if it is known. An iterator that says it must drive its consumer by
    /// indices only: with `split_at`, and not with `split_off_left`. Default: `None`.
    fn opt_len(&self) -> Option<usize> {
        None
    }

    methods::for_each! {}
    methods::adapt! {}
    methods::flatten! {}
    methods::early! {}
    methods::fold! {}
    methods::reduce! {}
    methods::scan! {}
    methods::least! {}
    methods::find! {}
    methods::collect! {}
}
