//! The trait of parallel iterators that know their length.

use super::plumbing::{Consumer, ProducerCallback};
use super::{
    Chunks, Enumerate, ExponentialBlocks, FoldChunks, FoldChunksWith, Interleave,
    InterleaveShortest, IntoParallelIterator, MaxLen, MinLen, ParallelIterator, Positions, Rev,
    Skip, StepBy, Take, UniformBlocks, Zip, ZipEq,
};
use super::{collect, compare};
use std::cmp::Ordering;

/// A parallel iterator that knows how many items it has, and where each one is.
///
/// ```
/// use sateen::prelude::*;
/// let squares: Vec<_> = (0..4).into_par_iter().zip([0, 1, 4, 9]).collect();
/// assert_eq!(squares, [(0, 0), (1, 1), (2, 4), (3, 9)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not know how many items it has",
    label = "no indexed parallel iterator",
    note = "after `filter`, `flat_map` and `chain` with such an iterator, in ranges of `u64` and \
            larger integers, and in ranges `a..=b` of more than 16 bits, positions are unknown"
)]
#[allow(clippy::len_without_is_empty, reason = "`ExactSizeIterator` has none either")]
pub trait IndexedParallelIterator: ParallelIterator {
    /// The number of items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((0..10).into_par_iter().zip(0..5).len(), 5);
    /// ```
    fn len(&self) -> usize;

    /// Drives `consumer` with the items, by indices.
    fn drive<C: Consumer<Self::Item>>(self, consumer: C) -> C::Result;

    /// Gives `callback` a producer of the items.
    fn with_producer<CB: ProducerCallback<Self::Item>>(self, callback: CB) -> CB::Output;

    /// Pairs each item with the item of `zip_op` at the same place, until one has no more.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sums: Vec<_> = [1, 2].par_iter().zip(&[10, 20]).map(|(a, b)| a + b).collect();
    /// assert_eq!(sums, [11, 22]);
    /// ```
    fn zip<Z>(self, zip_op: Z) -> Zip<Self, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        Zip::new(self, zip_op.into_par_iter())
    }

    /// [`zip`](Self::zip) with an iterator of as many items.
    ///
    /// # Panics
    /// At once, if it has more or fewer.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let products = [1, 2].par_iter().zip_eq(&[3, 4]).map(|(a, b)| a * b);
    /// assert_eq!(products.sum::<i32>(), 11);
    /// ```
    fn zip_eq<Z>(self, zip_op: Z) -> ZipEq<Self, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        ZipEq::new(self, zip_op.into_par_iter())
    }

    /// Items of this and of `other` in turn. When one has none left, those of the other follow.
    ///
    /// # Panics
    /// When it is driven, if there are more than `usize::MAX`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let all: Vec<_> = [1, 2].into_par_iter().interleave([7, 8, 9]).collect();
    /// assert_eq!(all, [1, 7, 2, 8, 9]);
    /// ```
    fn interleave<I>(self, other: I) -> Interleave<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
    {
        Interleave::new(self, other.into_par_iter())
    }

    /// Items of this and of `other` in turn, until it is the turn of one that has none left.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let all: Vec<_> = [1, 2].into_par_iter().interleave_shortest([7, 8, 9]).collect();
    /// assert_eq!(all, [1, 7, 2, 8]);
    /// ```
    fn interleave_shortest<I>(self, other: I) -> InterleaveShortest<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
    {
        InterleaveShortest::new(self, other.into_par_iter())
    }

    /// Pairs each item with its index.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let last = ['x', 'y'].par_iter().enumerate().find_last(|_| true);
    /// assert_eq!(last, Some((1, &'y')));
    /// ```
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate::new(self)
    }

    /// The items from the last to the first.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((0..3).into_par_iter().rev().collect::<Vec<_>>(), [2, 1, 0]);
    /// ```
    fn rev(self) -> Rev<Self> {
        Rev::new(self)
    }

    /// All items but the first `n`. These are made, too, and dropped.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((0..5).into_par_iter().skip(3).collect::<Vec<_>>(), [3, 4]);
    /// ```
    fn skip(self, n: usize) -> Skip<Self> {
        Skip::new(self, n)
    }

    /// The first `n` items. No others are made.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((0..5).into_par_iter().take(2).collect::<Vec<_>>(), [0, 1]);
    /// ```
    fn take(self, n: usize) -> Take<Self> {
        Take::new(self, n)
    }

    /// The first item, and then every `step`th.
    ///
    /// # Panics
    /// At once, if `step` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((0..10).into_par_iter().step_by(4).collect::<Vec<_>>(), [0, 4, 8]);
    /// ```
    fn step_by(self, step: usize) -> StepBy<Self> {
        StepBy::new(self, step)
    }

    /// Vectors of `chunk_size` items each. The last has what is left.
    ///
    /// # Panics
    /// At once, if `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let chunks: Vec<_> = (0..5).into_par_iter().chunks(2).collect();
    /// assert_eq!(chunks, [vec![0, 1], vec![2, 3], vec![4]]);
    /// ```
    #[track_caller]
    fn chunks(self, chunk_size: usize) -> Chunks<Self> {
        Chunks::new(self, chunk_size)
    }

    /// Folds each `chunk_size` items into one. Unlike those of
    /// [`fold`](ParallelIterator::fold), these pieces are the same in each call.
    ///
    /// # Panics
    /// At once, if `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sums: Vec<_> = (0..5).into_par_iter().fold_chunks(2, || 0, |a, b| a + b).collect();
    /// assert_eq!(sums, [1, 5, 4]);
    /// ```
    #[track_caller]
    fn fold_chunks<T, ID, F>(
        self,
        chunk_size: usize,
        identity: ID,
        fold_op: F,
    ) -> FoldChunks<Self, ID, F>
    where
        ID: Fn() -> T + Send + Sync,
        F: Fn(T, Self::Item) -> T + Send + Sync,
        T: Send,
    {
        FoldChunks::new(self, chunk_size, identity, fold_op)
    }

    /// [`fold_chunks`](Self::fold_chunks) with clones of `init` for identities.
    ///
    /// # Panics
    /// At once, if `chunk_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sums = (0..5).into_par_iter().fold_chunks_with(2, 10, |a, b| a + b);
    /// assert_eq!(sums.collect::<Vec<_>>(), [11, 15, 14]);
    /// ```
    #[track_caller]
    fn fold_chunks_with<T, F>(
        self,
        chunk_size: usize,
        init: T,
        fold_op: F,
    ) -> FoldChunksWith<Self, T, F>
    where
        T: Send + Clone,
        F: Fn(T, Self::Item) -> T + Send + Sync,
    {
        FoldChunksWith::new(self, chunk_size, init, fold_op)
    }

    /// The index of some item that `predicate` wants, the one that is found first in time.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let at = (10..99).into_par_iter().position_any(|n| n % 7 == 6);
    /// assert_eq!(at.map(|index| (index + 10) % 7), Some(6));
    /// ```
    fn position_any<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.map(predicate).enumerate().find_any(|(_, is)| *is).map(|(index, _)| index)
    }

    /// The index of the first item that `predicate` wants.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((10..99).into_par_iter().position_first(|n| n % 7 == 6), Some(3));
    /// ```
    fn position_first<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.map(predicate).enumerate().find_first(|(_, is)| *is).map(|(index, _)| index)
    }

    /// The index of the last item that `predicate` wants.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!((10..99).into_par_iter().position_last(|n| n % 7 == 6), Some(87));
    /// ```
    fn position_last<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.map(predicate).enumerate().find_last(|(_, is)| *is).map(|(index, _)| index)
    }

    /// The indices of all items that `predicate` wants.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let dashes: Vec<_> = b"a-b-".par_iter().positions(|byte| *byte == b'-').collect();
    /// assert_eq!(dashes, [1, 3]);
    /// ```
    fn positions<P>(self, predicate: P) -> Positions<Self, P>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        Positions::new(self, predicate)
    }

    /// Lets no piece have fewer than `min` items, unless there are fewer. Rarely needed: pieces
    /// are cut by time.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let sum: i32 = (0..1000).into_par_iter().with_min_len(100).sum();
    /// assert_eq!(sum, 499_500);
    /// ```
    fn with_min_len(self, min: usize) -> MinLen<Self> {
        MinLen::new(self, min)
    }

    /// Lets no piece have more than `max` items: so often [`fold`](ParallelIterator::fold) and
    /// [`map_init`](ParallelIterator::map_init) begin anew. A larger least length wins.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let pieces = (0..100).into_par_iter().with_max_len(10).fold(|| (), |(), _| ()).count();
    /// assert!(pieces >= 10);
    /// ```
    fn with_max_len(self, max: usize) -> MaxLen<Self> {
        MaxLen::new(self, max)
    }

    /// Works off one block of items after the other, each in parallel and twice as large as the
    /// one before. The first has an item for each worker. A search that finds an early item
    /// looks at few others.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let blocks = (0..1usize << 40).into_par_iter().by_exponential_blocks();
    /// assert_eq!(blocks.find_any(|n| *n == 1000), Some(1000));
    /// ```
    fn by_exponential_blocks(self) -> ExponentialBlocks<Self> {
        ExponentialBlocks::new(self)
    }

    /// Works off one block of `block_size` items after the other, each in parallel.
    ///
    /// # Panics
    /// At once, if `block_size` is 0.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let blocks = (0..1000).into_par_iter().by_uniform_blocks(100);
    /// assert_eq!(blocks.find_any(|n| n % 100 == 99), Some(99));
    /// ```
    #[track_caller]
    fn by_uniform_blocks(self, block_size: usize) -> UniformBlocks<Self> {
        UniformBlocks::new(self, block_size)
    }

    /// Compares with the items of `other` one by one, as dictionaries compare words.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// use std::cmp::Ordering;
    /// assert_eq!([1, 2].par_iter().cmp(&[1, 3]), Ordering::Less);
    /// assert_eq!([1, 2].par_iter().cmp(&[1]), Ordering::Greater);
    /// ```
    fn cmp<I>(self, other: I) -> Ordering
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
        Self::Item: Ord,
    {
        compare::cmp(self, other)
    }

    /// [`cmp`](Self::cmp) of items that may have no order. `None` if the first that are not
    /// equal have none.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// use std::cmp::Ordering;
    /// assert_eq!([1.0, 2.0].par_iter().partial_cmp(&[1.0, 3.0]), Some(Ordering::Less));
    /// assert_eq!([f64::NAN].par_iter().partial_cmp(&[1.0]), None);
    /// ```
    fn partial_cmp<I>(self, other: I) -> Option<Ordering>
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        compare::partial_cmp(self, other)
    }

    /// Whether both have as many items, and equal ones.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert!((0..3).into_par_iter().eq([0, 1, 2]));
    /// assert!(!(0..3).into_par_iter().eq([0, 1]));
    /// ```
    fn eq<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialEq<I::Item>,
    {
        compare::eq(self, other)
    }

    /// Whether they differ in an item or in their numbers of items.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert!((0..3).into_par_iter().ne([0, 1, 3]));
    /// ```
    fn ne<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialEq<I::Item>,
    {
        !compare::eq(self, other)
    }

    /// Whether this is less than `other`. Compares as [`partial_cmp`](Self::partial_cmp) does.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert!((0..3).into_par_iter().lt([0, 1, 3]));
    /// ```
    fn lt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        compare::partial_cmp(self, other).is_some_and(Ordering::is_lt)
    }

    /// Whether this is less than `other` or equal.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert!((0..3).into_par_iter().le([0, 1, 2]));
    /// ```
    fn le<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        compare::partial_cmp(self, other).is_some_and(Ordering::is_le)
    }

    /// Whether this is greater than `other`.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert!((0..3).into_par_iter().gt([0, 1]));
    /// ```
    fn gt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        compare::partial_cmp(self, other).is_some_and(Ordering::is_gt)
    }

    /// Whether this is greater than `other` or equal.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert!((0..3).into_par_iter().ge([0, 1, 2]));
    /// ```
    fn ge<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        compare::partial_cmp(self, other).is_some_and(Ordering::is_ge)
    }

    /// Collects the items into `target`, whose own are dropped first. Its memory is used again.
    ///
    /// # Panics
    /// If the iterator yields more or fewer items than it said. `target` is empty then.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut numbers = vec![7; 7];
    /// (0..3).into_par_iter().collect_into_vec(&mut numbers);
    /// assert_eq!(numbers, [0, 1, 2]);
    /// ```
    fn collect_into_vec(self, target: &mut Vec<Self::Item>) {
        collect::collect_into_vec(self, target);
    }

    /// Collects pairs into two vectors, whose own items are dropped first. Their memory is used
    /// again.
    ///
    /// # Panics
    /// If the iterator yields more or fewer items than it said. Both are empty then.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let (mut roots, mut squares) = (vec![7], vec![]);
    /// let pairs = (0..3).into_par_iter().map(|n| (n, n * n));
    /// pairs.unzip_into_vecs(&mut roots, &mut squares);
    /// assert_eq!((roots, squares), (vec![0, 1, 2], vec![0, 1, 4]));
    /// ```
    fn unzip_into_vecs<A, B>(self, left: &mut Vec<A>, right: &mut Vec<B>)
    where
        Self: IndexedParallelIterator<Item = (A, B)>,
        A: Send,
        B: Send,
    {
        collect::unzip::unzip_into_vecs(self, left, right);
    }
}
