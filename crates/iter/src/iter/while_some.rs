//! `while_some`, `take_any`, `skip_any`, `take_any_while` and `skip_any_while`: the pieces of these
//! adapters share a flag or a counter. Which items pass depends on which come first in time.

use super::ParallelIterator;
use super::adapter::adapter;
use super::flag::{Flag, Tickets};
use super::plumbing::{Folder, UnindexedConsumer};
use super::stage::{Stage, Staged};

adapter! {
    /// The items up to a `None`: what [`while_some`](ParallelIterator::while_some) returns.
    WhileSome { base }
}

adapter! {
    /// Any items that the function wants, until it does not want one:
    /// what [`take_any_while`](ParallelIterator::take_any_while) returns.
    TakeAnyWhile { base, predicate }
}

adapter! {
    /// All items but those that the function wants, until it does not want one:
    /// what [`skip_any_while`](ParallelIterator::skip_any_while) returns.
    SkipAnyWhile { base, predicate }
}

/// Any items, up to a number: what [`take_any`](ParallelIterator::take_any) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct TakeAny<I> {
    base: I,
    n: usize,
}

/// All items but a number of any: what [`skip_any`](ParallelIterator::skip_any) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct SkipAny<I> {
    base: I,
    n: usize,
}

impl<I> TakeAny<I> {
    pub(super) fn new(base: I, n: usize) -> Self {
        Self { base, n }
    }
}

impl<I> SkipAny<I> {
    pub(super) fn new(base: I, n: usize) -> Self {
        Self { base, n }
    }
}

impl<T: Send, I: ParallelIterator<Item = Option<T>>> ParallelIterator for WhileSome<I> {
    type Item = T;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        let stage = UntilNone(&Flag::new());
        self.base.drive_unindexed(Staged { stage, base: consumer })
    }
}

impl<I: ParallelIterator> ParallelIterator for TakeAny<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let stage = WithTicket(&Tickets::new(self.n));
        self.base.drive_unindexed(Staged { stage, base: consumer })
    }
}

impl<I: ParallelIterator> ParallelIterator for SkipAny<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let stage = WithoutTicket(&Tickets::new(self.n));
        self.base.drive_unindexed(Staged { stage, base: consumer })
    }
}

impl<I, P> ParallelIterator for TakeAnyWhile<I, P>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let stage = BeforeFlag { predicate: &self.predicate, flag: &Flag::new() };
        self.base.drive_unindexed(Staged { stage, base: consumer })
    }
}

impl<I, P> ParallelIterator for SkipAnyWhile<I, P>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let stage = BehindFlag { predicate: &self.predicate, flag: &Flag::new() };
        self.base.drive_unindexed(Staged { stage, base: consumer })
    }
}

/// Passes on what is `Some`. The flag is raised at the first `None`.
#[derive(Clone, Copy)]
struct UntilNone<'f>(&'f Flag);

impl UntilNone<'_> {
    #[inline]
    fn open<T>(self, item: Option<T>) -> Option<T> {
        if item.is_none() {
            self.0.raise();
        }
        item.filter(|_| !self.0.is_raised())
    }
}

impl<T> Stage<Option<T>> for UntilNone<'_> {
    type Out = T;
    const FILLS: bool = true;

    #[inline]
    fn consume<N: Folder<T>>(self, next: N, item: Option<T>) -> N {
        match self.open(item) {
            Some(item) => next.consume(item),
            None => next,
        }
    }

    #[inline]
    fn consume_iter<N: Folder<T>>(self, next: N, items: impl Iterator<Item = Option<T>>) -> N {
        next.consume_iter(items.map_while(|item| self.open(item)))
    }

    #[inline]
    fn full(self) -> bool {
        self.0.is_raised()
    }
}

/// Passes on an item for each ticket.
#[derive(Clone, Copy)]
struct WithTicket<'f>(&'f Tickets);

impl<T> Stage<T> for WithTicket<'_> {
    type Out = T;
    const FILLS: bool = true;

    #[inline]
    fn consume<N: Folder<T>>(self, next: N, item: T) -> N {
        if self.0.take() { next.consume(item) } else { next }
    }

    #[inline]
    fn consume_iter<N: Folder<T>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.take_while(|_| self.0.take()))
    }

    #[inline]
    fn full(self) -> bool {
        self.0.is_empty()
    }
}

/// Drops an item for each ticket.
#[derive(Clone, Copy)]
struct WithoutTicket<'f>(&'f Tickets);

impl<T> Stage<T> for WithoutTicket<'_> {
    type Out = T;
    const SWALLOWS: bool = true;

    #[inline]
    fn consume<N: Folder<T>>(self, next: N, item: T) -> N {
        if self.0.take() { next } else { next.consume(item) }
    }

    #[inline]
    fn consume_iter<N: Folder<T>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.skip_while(|_| self.0.take()))
    }
}

/// A function whose refusal raises the flag.
struct BeforeFlag<'f, P> {
    predicate: &'f P,
    flag: &'f Flag,
}

impl<P> Clone for BeforeFlag<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for BeforeFlag<'_, P> {}

impl<P> BeforeFlag<'_, P> {
    #[inline]
    fn is_wanted<T>(self, item: &T) -> bool
    where
        P: Fn(&T) -> bool,
    {
        if !self.flag.is_raised() && !(self.predicate)(item) {
            self.flag.raise();
        }
        !self.flag.is_raised()
    }
}

impl<T, P: Fn(&T) -> bool + Sync> Stage<T> for BeforeFlag<'_, P> {
    type Out = T;
    const FILLS: bool = true;

    #[inline]
    fn consume<N: Folder<T>>(self, next: N, item: T) -> N {
        if self.is_wanted(&item) { next.consume(item) } else { next }
    }

    #[inline]
    fn consume_iter<N: Folder<T>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.take_while(|item| self.is_wanted(item)))
    }

    #[inline]
    fn full(self) -> bool {
        self.flag.is_raised()
    }
}

/// A function that is asked until it refuses an item. Every piece notices.
struct BehindFlag<'f, P> {
    predicate: &'f P,
    flag: &'f Flag,
}

impl<P> Clone for BehindFlag<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for BehindFlag<'_, P> {}

impl<P> BehindFlag<'_, P> {
    #[inline]
    fn is_skipped<T>(self, item: &T) -> bool
    where
        P: Fn(&T) -> bool,
    {
        if self.flag.is_raised() {
            return false;
        }
        let skipped = (self.predicate)(item);
        if !skipped {
            self.flag.raise();
        }
        skipped
    }
}

impl<T, P: Fn(&T) -> bool + Sync> Stage<T> for BehindFlag<'_, P> {
    type Out = T;
    const SWALLOWS: bool = true;

    #[inline]
    fn consume<N: Folder<T>>(self, next: N, item: T) -> N {
        if self.is_skipped(&item) { next } else { next.consume(item) }
    }

    #[inline]
    fn consume_iter<N: Folder<T>>(self, next: N, items: impl Iterator<Item = T>) -> N {
        next.consume_iter(items.skip_while(|item| self.is_skipped(item)))
    }
}
