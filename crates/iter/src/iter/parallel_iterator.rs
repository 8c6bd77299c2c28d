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
    collect, collect::unzip, find, find_first_last, for_each, reduce, scan, sum, try_reduce,
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

    /// What the items hold, until one is `None`. Items beyond that may still pass, if another
    /// worker has them.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let small = |n: u32| (n < 5).then_some(n);
    /// let some: Vec<_> = (0..100).into_par_iter().map(small).while_some().collect();
    /// assert!(some.iter().all(|n| *n < 5));
    /// assert_eq!((0..5).into_par_iter().map(small).while_some().count(), 5);
    /// ```
    fn while_some<T>(self) -> WhileSome<Self>
    where
        Self: ParallelIterator<Item = Option<T>>,
        T: Send,
    {
        WhileSome::new(self)
    }

    /// Lets all pieces end soon after a panic in one, instead of working on.
    ///
    /// ```should_panic
    /// use sateen::prelude::*;
    /// (0..1u64 << 60).into_par_iter().panic_fuse().for_each(|n| assert_ne!(n, 1000));
    /// ```
    fn panic_fuse(self) -> PanicFuse<Self> {
        PanicFuse::new(self)
    }

    /// Any `n` items, those that come first in time; all if there are fewer.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let even = (0..100).into_par_iter().filter(|n| n % 2 == 0);
    /// let some: Vec<_> = even.take_any(5).collect();
    /// assert_eq!(some.len(), 5);
    /// assert!(some.is_sorted());
    /// ```
    fn take_any(self, n: usize) -> TakeAny<Self> {
        TakeAny::new(self, n)
    }

    /// All items but `n`, those that come first in time.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let even = (0..100).into_par_iter().filter(|n| n % 2 == 0);
    /// let some: Vec<_> = even.skip_any(5).collect();
    /// assert_eq!(some.len(), 45);
    /// assert!(some.is_sorted());
    /// ```
    fn skip_any(self, n: usize) -> SkipAny<Self> {
        SkipAny::new(self, n)
    }

    /// Items that `predicate` wants, until it refuses one in any piece.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let some: Vec<_> = (0..100).into_par_iter().take_any_while(|n| *n < 50).collect();
    /// assert!(some.iter().all(|n| *n < 50));
    /// ```
    fn take_any_while<P>(self, predicate: P) -> TakeAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        TakeAnyWhile::new(self, predicate)
    }

    /// Leaves out items that `predicate` wants, until it refuses one in any piece. That item
    /// and all after it in time pass.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let some: Vec<_> = (0..100).into_par_iter().skip_any_while(|n| *n < 50).collect();
    /// assert!((50..100).all(|n| some.contains(&n)));
    /// ```
    fn skip_any_while<P>(self, predicate: P) -> SkipAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        SkipAnyWhile::new(self, predicate)
    }

    /// Folds the items of each piece into a value that begins as `identity()`. Passes on one
    /// value a piece; how many there are is unspecified.
    ///
    /// In a source with a length, a piece usually ends only where another worker takes over. So
    /// a value may be costly to make. Before an end that may have enough, as
    /// [`find_any`](Self::find_any), pieces end more often.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let evens = (0..100)
    ///     .into_par_iter()
    ///     .fold(|| 0, |count, n| count + usize::from(n % 2 == 0))
    ///     .sum::<usize>();
    /// assert_eq!(evens, 50);
    /// ```
    fn fold<T, ID, F>(self, identity: ID, fold_op: F) -> Fold<Self, ID, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        T: Send,
    {
        Fold::new(self, identity, fold_op)
    }

    /// [`fold`](Self::fold) with clones of `init` for identities.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sum: i32 = (0..10).into_par_iter().fold_with(0, |sum, n| sum + n).sum();
    /// assert_eq!(sum, 45);
    /// ```
    fn fold_with<F, T>(self, init: T, fold_op: F) -> FoldWith<Self, T, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        T: Send + Clone,
    {
        FoldWith::new(self, init, fold_op)
    }

    /// [`fold`](Self::fold) that stops a piece at `Err` or `None`, which is its item then.
    /// Other pieces go on. An end such as [`try_reduce`](Self::try_reduce) stops them.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let add = |sum: u8, n: u8| sum.checked_add(n);
    /// let total = |end: u8| {
    ///     (0..end).into_par_iter().try_fold(|| 0, add).try_reduce(|| 0, |a, b| add(a, b))
    /// };
    /// assert_eq!(total(10), Some(45));
    /// assert_eq!(total(99), None);
    /// ```
    fn try_fold<T, R, ID, F>(self, identity: ID, fold_op: F) -> TryFold<Self, R, ID, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        R: Try<Output = T> + Send,
    {
        TryFold::new(self, identity, fold_op)
    }

    /// [`try_fold`](Self::try_fold) with clones of `init` for identities.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let add = |sum: u8, n| sum.checked_add(n);
    /// let pieces = (0..10u8).into_par_iter().try_fold_with(0, add);
    /// assert_eq!(pieces.map(|sum| sum.unwrap()).sum::<u8>(), 45);
    /// ```
    fn try_fold_with<F, T, R>(self, init: T, fold_op: F) -> TryFoldWith<Self, R, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        R: Try<Output = T> + Send,
        T: Clone + Send,
    {
        TryFoldWith::new(self, init, fold_op)
    }

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

    /// Joins each item with all items before it: result `i` is that of items `0..=i`.
    ///
    /// `op` must be associative; it need not be commutative, since the order is kept. Another
    /// operation gives results that depend on where pieces begin. Floating-point sums may
    /// differ in the last digits from call to call.
    ///
    /// # Cost
    /// Less than two calls of `op` for each item, and one if no other worker helps. Results
    /// are written to their places. Items of unknown number are collected first. No item is
    /// cloned.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sums = [1, 2, 3, 4].par_iter().copied().inclusive_scan(|a, b| a + b);
    /// assert_eq!(sums, [1, 3, 6, 10]);
    /// ```
    fn inclusive_scan<OP>(self, op: OP) -> Vec<Self::Item>
    where
        OP: Fn(&Self::Item, &Self::Item) -> Self::Item + Sync + Send,
        Self::Item: Sync,
    {
        scan::inclusive(self, &op)
    }

    /// Joins all items before each item: result `i` is that of items `0..i`. So the first is
    /// `identity()`, and the last item has no effect.
    ///
    /// `op` must be associative, as for [`inclusive_scan`](Self::inclusive_scan). Joined with
    /// `identity()`, a value must stay the same: it begins each piece.
    ///
    /// # Cost
    /// About two calls of `op` for each item, and one if no other worker helps.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// // Where each word begins in the joined text.
    /// let words = ["fork", "or", "join"];
    /// let starts = words.par_iter().map(|w| w.len()).exclusive_scan(|| 0, |a, b| a + b);
    /// assert_eq!(starts, [0, 4, 6]);
    /// ```
    fn exclusive_scan<OP, ID>(self, identity: ID, op: OP) -> Vec<Self::Item>
    where
        OP: Fn(&Self::Item, &Self::Item) -> Self::Item + Sync + Send,
        ID: Fn() -> Self::Item + Sync + Send,
        Self::Item: Sync,
    {
        scan::exclusive(self, &identity, &op)
    }

    /// The least item; the first of equal ones. `None` if there are no items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!([3, 1, 2].par_iter().min(), Some(&1));
    /// ```
    fn min(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.reduce_with(Ord::min)
    }

    /// The least item as `f` compares them; the first of equal ones.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let least = [3.5, 1.5, 2.5].par_iter().copied().min_by(f64::total_cmp);
    /// assert_eq!(least, Some(1.5));
    /// ```
    fn min_by<F>(self, f: F) -> Option<Self::Item>
    where
        F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
    {
        self.reduce_with(|a, b| if f(&a, &b) == Ordering::Greater { b } else { a })
    }

    /// The item whose key is the least; the first of equal ones. `f` is called once for each.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let least = ["ccc", "a", "bb"].par_iter().min_by_key(|word| word.len());
    /// assert_eq!(least, Some(&"a"));
    /// ```
    fn min_by_key<K, F>(self, f: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Sync + Send + Fn(&Self::Item) -> K,
    {
        let keyed = self.map(|item| (f(&item), item));
        keyed.min_by(|a, b| a.0.cmp(&b.0)).map(|(_, item)| item)
    }

    /// The greatest item; the last of equal ones. `None` if there are no items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!([3, 1, 2].par_iter().max(), Some(&3));
    /// ```
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.reduce_with(Ord::max)
    }

    /// The greatest item as `f` compares them; the last of equal ones.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let greatest = [3.5, 1.5, 2.5].par_iter().copied().max_by(f64::total_cmp);
    /// assert_eq!(greatest, Some(3.5));
    /// ```
    fn max_by<F>(self, f: F) -> Option<Self::Item>
    where
        F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
    {
        self.reduce_with(|a, b| if f(&a, &b) == Ordering::Greater { a } else { b })
    }

    /// The item whose key is the greatest; the last of equal ones. `f` is called once for each.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let greatest = ["ccc", "a", "bb"].par_iter().max_by_key(|word| word.len());
    /// assert_eq!(greatest, Some(&"ccc"));
    /// ```
    fn max_by_key<K, F>(self, f: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Sync + Send + Fn(&Self::Item) -> K,
    {
        let keyed = self.map(|item| (f(&item), item));
        keyed.max_by(|a, b| a.0.cmp(&b.0)).map(|(_, item)| item)
    }

    /// Some item that `predicate` wants, the one that is found first in time.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let found = (0..100).into_par_iter().find_any(|n| n % 7 == 6);
    /// assert_eq!(found.map(|n| n % 7), Some(6));
    /// ```
    fn find_any<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        find::find_any(self, &predicate)
    }

    /// The first item that `predicate` wants.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((0..100).into_par_iter().find_first(|n| n % 7 == 6), Some(6));
    /// ```
    fn find_first<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        find_first_last::find_first(self, &predicate)
    }

    /// The last item that `predicate` wants.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((0..100).into_par_iter().find_last(|n| n % 7 == 6), Some(97));
    /// ```
    fn find_last<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        find_first_last::find_last(self, &predicate)
    }

    /// Something that `predicate` makes of an item, the first in time that is `Some`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let found = ["x", "2", "y"].par_iter().find_map_any(|word| word.parse().ok());
    /// assert_eq!(found, Some(2));
    /// ```
    fn find_map_any<P, R>(self, predicate: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        self.filter_map(predicate).find_any(|_| true)
    }

    /// What `predicate` makes of the first item of which it makes `Some`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let found = ["x", "2", "3"].par_iter().find_map_first(|word| word.parse().ok());
    /// assert_eq!(found, Some(2));
    /// ```
    fn find_map_first<P, R>(self, predicate: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        self.filter_map(predicate).find_first(|_| true)
    }

    /// What `predicate` makes of the last item of which it makes `Some`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let found = ["x", "2", "3"].par_iter().find_map_last(|word| word.parse().ok());
    /// assert_eq!(found, Some(3));
    /// ```
    fn find_map_last<P, R>(self, predicate: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        self.filter_map(predicate).find_last(|_| true)
    }

    /// Whether `predicate` is true of any item.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert!((0..10).into_par_iter().any(|n| n == 7));
    /// ```
    fn any<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.map(predicate).find_any(|is| *is).is_some()
    }

    /// Whether `predicate` is true of all items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert!((0..10).into_par_iter().all(|n| n < 10));
    /// ```
    fn all<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.map(predicate).find_any(|is| !*is).is_none()
    }

    /// Collects the first halves of pairs into one collection, and the second halves into
    /// another.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let pairs = (0..3).into_par_iter().map(|n| (n, n * n));
    /// let (roots, squares): (Vec<_>, Vec<_>) = pairs.unzip();
    /// assert_eq!(roots, [0, 1, 2]);
    /// assert_eq!(squares, [0, 1, 4]);
    /// ```
    fn unzip<A, B, FromA, FromB>(self) -> (FromA, FromB)
    where
        Self: ParallelIterator<Item = (A, B)>,
        FromA: Default + Send + ParallelExtend<A>,
        FromB: Default + Send + ParallelExtend<B>,
        A: Send,
        B: Send,
    {
        unzip::unzip(self)
    }

    /// Collects the items that `predicate` wants into one collection, and the others into
    /// another.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let (even, odd): (Vec<_>, Vec<_>) = (0..5).into_par_iter().partition(|n| n % 2 == 0);
    /// assert_eq!(even, [0, 2, 4]);
    /// assert_eq!(odd, [1, 3]);
    /// ```
    fn partition<A, B, P>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<Self::Item>,
        B: Default + Send + ParallelExtend<Self::Item>,
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        unzip::partition(self, &predicate)
    }

    /// Passes each item through `predicate`, and collects what is `Left` into one collection
    /// and what is `Right` into another.
    ///
    /// ```
    /// use sateen::iter::Either;
    /// use sateen::prelude::*;
    /// let parse = |word: &&str| match word.parse::<u8>() {
    ///     Ok(number) => Either::Left(number),
    ///     Err(_) => Either::Right(word.len()),
    /// };
    /// let words = ["1", "two", "3"];
    /// let (numbers, lengths): (Vec<_>, Vec<_>) = words.par_iter().partition_map(parse);
    /// assert_eq!(numbers, [1, 3]);
    /// assert_eq!(lengths, [3]);
    /// ```
    fn partition_map<A, B, P, L, R>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<L>,
        B: Default + Send + ParallelExtend<R>,
        P: Fn(Self::Item) -> Either<L, R> + Sync + Send,
        L: Send,
        R: Send,
    {
        unzip::partition_map(self, predicate)
    }

    /// Collects the items of each piece into a vector, and these into a list. No item is moved
    /// again, and no vector is empty.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let list = (0..100).into_par_iter().filter(|n| n % 2 == 0).collect_vec_list();
    /// assert_eq!(list.into_iter().flatten().count(), 50);
    /// ```
    fn collect_vec_list(self) -> LinkedList<Vec<Self::Item>> {
        collect::collect_unknown(self).into_lists()
    }
}
