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
#[diagnostic::on_unimplemented(message = "`{Self}` is no parallel iterator")]
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

    /// Calls `op` with each item.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = [1, 2, 3];
    /// numbers.par_iter_mut().for_each(|n| *n *= 10);
    /// assert_eq!(numbers, [10, 20, 30]);
    /// ```
    fn for_each<OP>(self, op: OP)
    where
        OP: Fn(Self::Item) + Sync + Send,
    {
        for_each::for_each(self, &op);
    }

    /// Calls `op` with a clone of `init` and each item. A piece has one clone.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// (0..5).into_par_iter().for_each_with(sender, |sender, n| sender.send(n).unwrap());
    /// assert_eq!(receiver.iter().sum::<i32>(), 10);
    /// ```
    fn for_each_with<OP, T>(self, init: T, op: OP)
    where
        OP: Fn(&mut T, Self::Item) + Sync + Send,
        T: Send + Clone,
    {
        for_each::ignore(self.map_with(init, op));
    }

    /// Calls `op` with a value of `init` and each item. A piece has one value.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// (0..5).into_par_iter().for_each_init(String::new, |line, n| {
    ///     line.clear();
    ///     line.push_str(&n.to_string());
    ///     assert_eq!(line.len(), 1);
    /// });
    /// ```
    fn for_each_init<OP, INIT, T>(self, init: INIT, op: OP)
    where
        OP: Fn(&mut T, Self::Item) + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
    {
        for_each::ignore(self.map_init(init, op));
    }

    /// Calls `op` with each item until a call returns `Err` or `None`. Returns one of these.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let small = |n| if n < 5 { Ok(()) } else { Err(n) };
    /// assert_eq!((0..5).into_par_iter().try_for_each(small), Ok(()));
    /// assert_eq!((0..6).into_par_iter().try_for_each(small), Err(5));
    /// ```
    fn try_for_each<OP, R>(self, op: OP) -> R
    where
        OP: Fn(Self::Item) -> R + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        self.map(op).try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// [`try_for_each`](Self::try_for_each) with a clone of `init` for each piece.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let sent = (0..5).into_par_iter().try_for_each_with(sender, |s, n| s.send(n));
    /// assert!(sent.is_ok());
    /// assert_eq!(receiver.iter().count(), 5);
    /// ```
    fn try_for_each_with<OP, T, R>(self, init: T, op: OP) -> R
    where
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Try<Output = ()> + Send,
    {
        self.map_with(init, op).try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// [`try_for_each`](Self::try_for_each) with a value of `init` for each piece.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let odd = (0..5).into_par_iter().try_for_each_init(|| 1, |mask, n: i32| {
    ///     (n & *mask == 0).then_some(())
    /// });
    /// assert_eq!(odd, None);
    /// ```
    fn try_for_each_init<OP, INIT, T, R>(self, init: INIT, op: OP) -> R
    where
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        self.map_init(init, op).try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// Passes each item through `map_op`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let doubled: Vec<_> = (0..4).into_par_iter().map(|n| 2 * n).collect();
    /// assert_eq!(doubled, [0, 2, 4, 6]);
    /// ```
    fn map<F, R>(self, map_op: F) -> Map<Self, F>
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: Send,
    {
        Map::new(self, map_op)
    }

    /// Passes a clone of `init` and each item through `map_op`. A piece has one clone.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sizes: Vec<_> = (1..4)
    ///     .into_par_iter()
    ///     .map_with(vec![0; 8], |buffer, n| buffer[..n].len())
    ///     .collect();
    /// assert_eq!(sizes, [1, 2, 3]);
    /// ```
    fn map_with<F, T, R>(self, init: T, map_op: F) -> MapWith<Self, T, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Send,
    {
        MapWith::new(self, init, map_op)
    }

    /// Passes a value of `init` and each item through `map_op`. A piece has one value, which
    /// need not be `Send`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let words: Vec<_> = (0..3)
    ///     .into_par_iter()
    ///     .map_init(String::new, |line, n| {
    ///         line.clear();
    ///         line.push_str(&n.to_string());
    ///         line.clone()
    ///     })
    ///     .collect();
    /// assert_eq!(words, ["0", "1", "2"]);
    /// ```
    fn map_init<F, INIT, T, R>(self, init: INIT, map_op: F) -> MapInit<Self, INIT, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
        R: Send,
    {
        MapInit::new(self, init, map_op)
    }

    /// Clones each item out of its reference.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let words = ["a".to_owned(), "b".to_owned()];
    /// assert_eq!(words.par_iter().cloned().collect::<Vec<String>>(), words);
    /// ```
    fn cloned<'a, T>(self) -> Cloned<Self>
    where
        T: 'a + Clone + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Cloned::new(self)
    }

    /// Copies each item out of its reference.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!([3, 1, 2].par_iter().copied().max(), Some(3));
    /// ```
    fn copied<'a, T>(self) -> Copied<Self>
    where
        T: 'a + Copy + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Copied::new(self)
    }

    /// Shows each item to `inspect_op` as it passes.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sum: i32 = (0..4).into_par_iter().inspect(|n| assert!(*n < 4)).sum();
    /// assert_eq!(sum, 6);
    /// ```
    fn inspect<OP>(self, inspect_op: OP) -> Inspect<Self, OP>
    where
        OP: Fn(&Self::Item) + Sync + Send,
    {
        Inspect::new(self, inspect_op)
    }

    /// Lets `update_op` change each item as it passes.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let words = ["a", "b"].into_par_iter().map(str::to_owned);
    /// let longer: Vec<_> = words.update(|word| word.push('!')).collect();
    /// assert_eq!(longer, ["a!", "b!"]);
    /// ```
    fn update<F>(self, update_op: F) -> Update<Self, F>
    where
        F: Fn(&mut Self::Item) + Sync + Send,
    {
        Update::new(self, update_op)
    }

    /// Keeps the items that `filter_op` wants.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let even: Vec<_> = (0..5).into_par_iter().filter(|n| n % 2 == 0).collect();
    /// assert_eq!(even, [0, 2, 4]);
    /// ```
    fn filter<P>(self, filter_op: P) -> Filter<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        Filter::new(self, filter_op)
    }

    /// Passes each item through `filter_op`, and keeps what is `Some`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let numbers: Vec<u8> =
    ///     ["1", "x", "3"].par_iter().filter_map(|word| word.parse().ok()).collect();
    /// assert_eq!(numbers, [1, 3]);
    /// ```
    fn filter_map<P, R>(self, filter_op: P) -> FilterMap<Self, P>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        FilterMap::new(self, filter_op)
    }

    /// Puts a clone of `element` between each two items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let row: Vec<_> = (1..4).into_par_iter().intersperse(0).collect();
    /// assert_eq!(row, [1, 0, 2, 0, 3]);
    /// ```
    fn intersperse(self, element: Self::Item) -> Intersperse<Self>
    where
        Self::Item: Clone,
    {
        Intersperse::new(self, element)
    }

    /// Lets the items of `chain` follow.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let all: Vec<_> = (0..2).into_par_iter().chain([7, 8]).collect();
    /// assert_eq!(all, [0, 1, 7, 8]);
    /// ```
    fn chain<C>(self, chain: C) -> Chain<Self, C::Iter>
    where
        C: IntoParallelIterator<Item = Self::Item>,
    {
        Chain::new(self, chain.into_par_iter())
    }

    /// Makes a parallel iterator of each item, and passes on their items.
    ///
    /// For short ones [`flat_map_iter`](Self::flat_map_iter) is cheaper.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let all: Vec<_> = (1..4).into_par_iter().flat_map(|n| 0..n).collect();
    /// assert_eq!(all, [0, 0, 1, 0, 1, 2]);
    /// ```
    fn flat_map<F, PI>(self, map_op: F) -> FlatMap<Self, F>
    where
        F: Fn(Self::Item) -> PI + Sync + Send,
        PI: IntoParallelIterator,
    {
        FlatMap::new(self, map_op)
    }

    /// Makes a sequential iterator of each item, and passes on their items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let letters: String = ["ab", "c"].par_iter().flat_map_iter(|word| word.chars()).fold(
    ///     String::new,
    ///     |mut all, letter| {
    ///         all.push(letter);
    ///         all
    ///     },
    /// ).reduce(String::new, |a, b| a + &b);
    /// assert_eq!(letters, "abc");
    /// ```
    fn flat_map_iter<F, SI>(self, map_op: F) -> FlatMapIter<Self, F>
    where
        F: Fn(Self::Item) -> SI + Sync + Send,
        SI: IntoIterator<Item: Send>,
    {
        FlatMapIter::new(self, map_op)
    }

    /// Passes on the items of the items, which become parallel iterators.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let all: Vec<_> = vec![vec![1, 2], vec![3]].into_par_iter().flatten().collect();
    /// assert_eq!(all, [1, 2, 3]);
    /// ```
    fn flatten(self) -> Flatten<Self>
    where
        Self::Item: IntoParallelIterator,
    {
        Flatten::new(self)
    }

    /// Passes on the items of the items, which become sequential iterators.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let all: Vec<_> = vec![Some(1), None, Some(3)].into_par_iter().flatten_iter().collect();
    /// assert_eq!(all, [1, 3]);
    /// ```
    fn flatten_iter(self) -> FlattenIter<Self>
    where
        Self::Item: IntoIterator<Item: Send>,
    {
        FlattenIter::new(self)
    }

    /// Collects the items, in their order where the collection has one.
    ///
    /// If the number of items is known, each worker writes to its places in the vector at once.
    /// Otherwise each piece makes a vector, and these are appended to the first.
    ///
    /// # Panics
    /// If the iterator yields more or fewer items than it said.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let squares: Vec<_> = (0..4).into_par_iter().map(|n| n * n).collect();
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// ```
    fn collect<C>(self) -> C
    where
        C: FromParallelIterator<Self::Item>,
    {
        C::from_par_iter(self)
    }

    methods::early! {}
    methods::fold! {}
    /// Joins all items by `op`, which must be associative. `identity()` begins each piece, and
    /// is the result if there are no items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let longest = ["a", "ccc", "bb"].par_iter().copied().reduce(
    ///     || "",
    ///     |a, b| if b.len() > a.len() { b } else { a },
    /// );
    /// assert_eq!(longest, "ccc");
    /// ```
    fn reduce<OP, ID>(self, identity: ID, op: OP) -> Self::Item
    where
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
        ID: Fn() -> Self::Item + Sync + Send,
    {
        reduce::reduce(self, &identity, &op)
    }

    /// Joins all items by `op`, which must be associative. `None` if there are no items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((1..5).into_par_iter().reduce_with(|a, b| a * b), Some(24));
    /// ```
    fn reduce_with<OP>(self, op: OP) -> Option<Self::Item>
    where
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
    {
        reduce::reduce_with(self, &op)
    }

    /// [`reduce`](Self::reduce) of what `Ok` or `Some` hold, until there is an `Err` or a
    /// `None`. Returns one of these.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let add = |a: u8, b: u8| a.checked_add(b);
    /// assert_eq!((0..10u8).into_par_iter().map(Some).try_reduce(|| 0, add), Some(45));
    /// assert_eq!((0..99u8).into_par_iter().map(Some).try_reduce(|| 0, add), None);
    /// ```
    fn try_reduce<T, OP, ID>(self, identity: ID, op: OP) -> Self::Item
    where
        OP: Fn(T, T) -> Self::Item + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        try_reduce::try_reduce(self, &identity, &op)
    }

    /// [`try_reduce`](Self::try_reduce) without an identity. `None` if there are no items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let add = |a: u8, b: u8| a.checked_add(b);
    /// let sum = (0..10u8).into_par_iter().map(Some).try_reduce_with(add);
    /// assert_eq!(sum, Some(Some(45)));
    /// ```
    fn try_reduce_with<T, OP>(self, op: OP) -> Option<Self::Item>
    where
        OP: Fn(T, T) -> Self::Item + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        try_reduce::try_reduce_with(self, &op)
    }

    /// The sum of the items. Floating-point sums may differ in the last digits from call to
    /// call, since they depend on how the items are grouped.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!([1u64, 2, 3].par_iter().sum::<u64>(), 6);
    /// ```
    fn sum<S>(self) -> S
    where
        S: Send + Sum<Self::Item> + Sum<S>,
    {
        sum::sum(self)
    }

    /// The product of the items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((1..6u32).into_par_iter().product::<u32>(), 120);
    /// ```
    fn product<P>(self) -> P
    where
        P: Send + Product<Self::Item> + Product<P>,
    {
        sum::product(self)
    }

    /// The number of items. They are all made.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((0..10).into_par_iter().filter(|n| n % 3 == 0).count(), 4);
    /// ```
    fn count(self) -> usize {
        self.map(|_| 1).sum()
    }

    methods::scan! {}
    methods::least! {}
    methods::find! {}
    methods::collect! {}
}
