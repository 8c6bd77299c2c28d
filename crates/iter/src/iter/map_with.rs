//! `map_with` and `map_init`: a function with a state for each piece.

use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use super::seed::{Init, Seed, With};
use super::{IndexedParallelIterator, ParallelIterator};
use sateen_base::unwind::Held;
use std::fmt;

/// Calls a function with a clone of a value and each item:
/// what [`map_with`](ParallelIterator::map_with) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone)]
pub struct MapWith<I, T, F> {
    base: I,
    item: T,
    map_op: F,
}

/// Calls a function with a state and each item: what [`map_init`](ParallelIterator::map_init)
/// returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone)]
pub struct MapInit<I, INIT, F> {
    base: I,
    init: INIT,
    map_op: F,
}

impl<I, T, F> MapWith<I, T, F> {
    pub(super) fn new(base: I, item: T, map_op: F) -> Self {
        Self { base, item, map_op }
    }
}

impl<I, INIT, F> MapInit<I, INIT, F> {
    pub(super) fn new(base: I, init: INIT, map_op: F) -> Self {
        Self { base, init, map_op }
    }
}

impl<I: fmt::Debug, T: fmt::Debug, F> fmt::Debug for MapWith<I, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("MapWith");
        shown.field("base", &self.base).field("item", &self.item).finish_non_exhaustive()
    }
}

impl<I: fmt::Debug, INIT, F> fmt::Debug for MapInit<I, INIT, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapInit").field("base", &self.base).finish_non_exhaustive()
    }
}

/// Implements the traits for an adapter whose states come from a seed.
macro_rules! with_state {
    (
        $name:ident<$state:ident: [$($bounds:tt)*]>, [$($more:tt)*], $t:ty,
        |$this:ident| $seed:expr
    ) => {
        impl<I, $state, F, R, $($more)*> ParallelIterator for $name<I, $state, F>
        where
            I: ParallelIterator,
            $state: $($bounds)*,
            F: Fn(&mut $t, I::Item) -> R + Sync + Send,
            R: Send,
        {
            type Item = R;

            fn drive_unindexed<C: UnindexedConsumer<R>>(self, consumer: C) -> C::Result {
                let $this = self;
                let (base, seed, map_op) = $seed;
                base.drive_unindexed(Stateful { base: consumer, seed, map_op })
            }

            fn opt_len(&self) -> Option<usize> {
                self.base.opt_len()
            }
        }

        impl<I, $state, F, R, $($more)*> IndexedParallelIterator for $name<I, $state, F>
        where
            I: IndexedParallelIterator,
            $state: $($bounds)*,
            F: Fn(&mut $t, I::Item) -> R + Sync + Send,
            R: Send,
        {
            fn len(&self) -> usize {
                self.base.len()
            }

            fn drive<C: Consumer<R>>(self, consumer: C) -> C::Result {
                let $this = self;
                let (base, seed, map_op) = $seed;
                base.drive(Stateful { base: consumer, seed, map_op })
            }

            fn with_producer<CB: ProducerCallback<R>>(self, callback: CB) -> CB::Output {
                let $this = self;
                let (base, seed, map_op) = $seed;
                base.with_producer(Behind { callback, seed, map_op })
            }
        }
    };
}

with_state!(MapWith<T: [Send + Clone]>, [], T,
    |this| (this.base, With::new(this.item), &this.map_op));
with_state!(MapInit<INIT: [Fn() -> T + Sync + Send]>, [T], T,
    |this| (this.base, Init(&this.init), &this.map_op));

/// A consumer or producer whose pieces have states.
struct Stateful<'f, B, S, F> {
    base: B,
    seed: S,
    map_op: &'f F,
}

impl<'f, B, S: Seed, F> Stateful<'f, B, S, F> {
    /// Two pieces with `left` and `right` as bases.
    fn split_into(seed: S, map_op: &'f F, left: B, right: B) -> (Self, Self) {
        let first = seed.split_off();
        (Self { base: left, seed: first, map_op }, Self { base: right, seed, map_op })
    }
}

impl<'f, T, R, C, S, F> Consumer<T> for Stateful<'f, C, S, F>
where
    C: Consumer<R>,
    S: Seed,
    F: Fn(&mut S::State, T) -> R + Sync,
    R: Send,
{
    type Folder = StatefulFolder<'f, C::Folder, S::State, F>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let Self { base, seed, map_op } = self;
        let (left, right, reducer) = base.split_at(index);
        let (left, right) = Self::split_into(seed, map_op, left, right);
        (left, right, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        let Self { base, seed, map_op } = self;
        StatefulFolder { state: Held::new(seed.state()), base: base.into_folder(), map_op }
    }

    fn full(&self) -> bool {
        self.base.full()
    }

    #[inline]
    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        self.base.extend_folder(&mut folder.base, count)
    }
}

impl<'f, T, R, C, S, F> UnindexedConsumer<T> for Stateful<'f, C, S, F>
where
    C: UnindexedConsumer<R>,
    S: Seed,
    F: Fn(&mut S::State, T) -> R + Sync,
    R: Send,
{
    fn split_off_left(&self) -> Self {
        let seed = self.seed.split_off();
        Self { base: self.base.split_off_left(), seed, map_op: self.map_op }
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

struct StatefulFolder<'f, B, S, F> {
    base: B,
    /// Held while other code runs.
    state: Held<S>,
    map_op: &'f F,
}

impl<T, R, B, S, F> Folder<T> for StatefulFolder<'_, B, S, F>
where
    B: Folder<R>,
    F: Fn(&mut S, T) -> R,
{
    type Result = B::Result;
    const FILLS: bool = B::FILLS;

    #[inline]
    fn consume(self, item: T) -> Self {
        let Self { base, mut state, map_op } = self;
        let item = map_op(&mut state, item);
        Self { base: base.consume(item), state, map_op }
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(self, iter: I) -> Self {
        let Self { base, mut state, map_op } = self;
        let base = base.consume_iter(iter.into_iter().map(|item| map_op(&mut state, item)));
        Self { base, state, map_op }
    }

    #[inline]
    fn complete(self) -> B::Result {
        self.base.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.base.full()
    }
}

/// Gives a callback the producer with states.
struct Behind<'f, CB, S, F> {
    callback: CB,
    seed: S,
    map_op: &'f F,
}

impl<T, R, CB, S, F> ProducerCallback<T> for Behind<'_, CB, S, F>
where
    CB: ProducerCallback<R>,
    S: Seed,
    F: Fn(&mut S::State, T) -> R + Sync,
    R: Send,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        self.callback.callback(Stateful { base, seed: self.seed, map_op: self.map_op })
    }
}

impl<'f, R, P, S, F> Producer for Stateful<'f, P, S, F>
where
    P: Producer,
    S: Seed,
    F: Fn(&mut S::State, P::Item) -> R + Sync,
    R: Send,
{
    type Item = R;
    type IntoIter = StatefulIter<'f, P::IntoIter, S::State, F>;

    fn into_iter(self) -> Self::IntoIter {
        let Self { base, seed, map_op } = self;
        StatefulIter { state: Held::new(seed.state()), base: base.into_iter(), map_op }
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { base, seed, map_op } = self;
        let (left, right) = base.split_at(index);
        Self::split_into(seed, map_op, left, right)
    }

    fn fold_with<N: Folder<R>>(self, folder: N) -> N {
        let Self { base, seed, map_op } = self;
        let state = Held::new(seed.state());
        base.fold_with(StatefulFolder { base: folder, state, map_op }).base
    }
}

/// Iterates over what the function makes.
struct StatefulIter<'f, I, S, F> {
    base: I,
    state: Held<S>,
    map_op: &'f F,
}

impl<R, I, S, F> Iterator for StatefulIter<'_, I, S, F>
where
    I: Iterator,
    F: Fn(&mut S, I::Item) -> R,
{
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        let item = self.base.next()?;
        Some((self.map_op)(&mut self.state, item))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }
}

impl<R, I, S, F> DoubleEndedIterator for StatefulIter<'_, I, S, F>
where
    I: DoubleEndedIterator,
    F: Fn(&mut S, I::Item) -> R,
{
    #[inline]
    fn next_back(&mut self) -> Option<R> {
        let item = self.base.next_back()?;
        Some((self.map_op)(&mut self.state, item))
    }
}

impl<R, I, S, F> ExactSizeIterator for StatefulIter<'_, I, S, F>
where
    I: ExactSizeIterator,
    F: Fn(&mut S, I::Item) -> R,
{
}
