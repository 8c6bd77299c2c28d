//! `panic_fuse`.
//!
//! A folder is completed, unless its piece unwinds. So a folder that is dropped before has met a
//! panic, wherever in the chain it began.

use super::adapter::adapter;
use super::flag::{Armed, Flag};
use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use super::{IndexedParallelIterator, ParallelIterator};

adapter! {
    /// Ends all pieces soon after a panic: what [`panic_fuse`](ParallelIterator::panic_fuse)
    /// returns.
    PanicFuse { base }
}

impl<I: ParallelIterator> ParallelIterator for PanicFuse<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        self.base.drive_unindexed(Fused { base: consumer, flag: &Flag::new() })
    }

    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for PanicFuse<I> {
    fn len(&self) -> usize {
        self.base.len()
    }

    fn drive<C: Consumer<I::Item>>(self, consumer: C) -> C::Result {
        self.base.drive(Fused { base: consumer, flag: &Flag::new() })
    }

    fn with_producer<CB: ProducerCallback<I::Item>>(self, callback: CB) -> CB::Output {
        self.base.with_producer(Callback(callback))
    }
}

struct Callback<CB>(CB);

impl<T, CB: ProducerCallback<T>> ProducerCallback<T> for Callback<CB> {
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        self.0.callback(Fused { base, flag: &Flag::new() })
    }
}

/// A consumer or producer whose pieces share the flag.
struct Fused<'f, B> {
    base: B,
    flag: &'f Flag,
}

struct FusedFolder<'f, B> {
    base: B,
    armed: Armed<'f>,
}

impl<'f, T, C: Consumer<T>> Consumer<T> for Fused<'f, C> {
    type Folder = FusedFolder<'f, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let Self { base, flag } = self;
        let (left, right, reducer) = base.split_at(index);
        (Self { base: left, flag }, Self { base: right, flag }, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        FusedFolder { base: self.base.into_folder(), armed: Armed(self.flag) }
    }

    #[inline]
    fn full(&self) -> bool {
        self.flag.is_raised() || self.base.full()
    }

    #[inline]
    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        self.base.extend_folder(&mut folder.base, count)
    }
}

impl<T, C: UnindexedConsumer<T>> UnindexedConsumer<T> for Fused<'_, C> {
    fn split_off_left(&self) -> Self {
        Self { base: self.base.split_off_left(), flag: self.flag }
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

impl<T, F: Folder<T>> Folder<T> for FusedFolder<'_, F> {
    type Result = F::Result;

    #[inline]
    fn consume(self, item: T) -> Self {
        let Self { base, armed } = self;
        Self { base: base.consume(item), armed }
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, iter: I) -> Self {
        let Self { base, armed } = self;
        let flag = armed.0;
        Self { base: base.consume_iter(iter.into_iter().take_while(|_| !flag.is_raised())), armed }
    }

    #[inline]
    fn complete(self) -> F::Result {
        let Self { base, armed } = self;
        let result = base.complete();
        armed.disarm();
        result
    }

    #[inline]
    fn full(&self) -> bool {
        self.armed.0.is_raised() || self.base.full()
    }
}

impl<'f, P: Producer> Producer for Fused<'f, P> {
    type Item = P::Item;
    type IntoIter = FusedIter<'f, P::IntoIter>;

    fn into_iter(self) -> Self::IntoIter {
        FusedIter::new(self.base.into_iter(), self.flag)
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { base, flag } = self;
        let (left, right) = base.split_at(index);
        (Self { base: left, flag }, Self { base: right, flag })
    }

    fn fold_with<F: Folder<P::Item>>(self, folder: F) -> F {
        let folder = FusedFolder { base: folder, armed: Armed(self.flag) };
        let FusedFolder { base, armed } = self.base.fold_with(folder);
        armed.disarm();
        base
    }
}

/// Iterates until the flag is raised, and raises it if it is dropped by a panic.
///
/// An iterator may be dropped before its end without any panic. So it asks the thread, which says
/// nothing where a loop runs in a destructor during another panic: then no flag is raised.
struct FusedIter<'f, I> {
    base: I,
    flag: &'f Flag,
    unwinds_already: bool,
}

impl<'f, I> FusedIter<'f, I> {
    fn new(base: I, flag: &'f Flag) -> Self {
        Self { base, flag, unwinds_already: std::thread::panicking() }
    }
}

impl<I> Drop for FusedIter<'_, I> {
    #[inline]
    fn drop(&mut self) {
        if std::thread::panicking() && !self.unwinds_already {
            self.flag.raise();
        }
    }
}

impl<I: Iterator> Iterator for FusedIter<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        if self.flag.is_raised() { None } else { self.base.next() }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for FusedIter<'_, I> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        if self.flag.is_raised() { None } else { self.base.next_back() }
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for FusedIter<'_, I> {}
