//! `find_first` and `find_last`.
//!
//! Each piece has a span of positions, in the order of the items: a split halves the span, whatever
//! the number of items. A piece that finds an item tells the position. A piece whose whole span
//! lies on the far side of a told position gives up. When a span cannot be halved any more, both
//! halves keep it. Then they stop each other no longer. The reduction still picks the right item.

use super::ParallelIterator;
use super::end::either_of;
use super::flag::Furthest;
use super::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use sateen_base::unwind::Held;
use std::cell::Cell;

/// Which item is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    First,
    Last,
}

struct Search<'f, P> {
    predicate: &'f P,
    wanted: Wanted,
    /// How near to the wanted end an item was found, counted from the other end.
    found: &'f Furthest,
}

impl<P> Clone for Search<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Search<'_, P> {}

impl<P> Search<'_, P> {
    /// Whether an item was found that is better than all of a span.
    #[inline]
    fn is_beaten(self, low: usize, high: usize) -> bool {
        match self.wanted {
            Wanted::First => self.found.get() > usize::MAX - low,
            Wanted::Last => self.found.get() > high,
        }
    }

    /// Tells that the span from `low` to `high` has an item.
    #[inline]
    fn tell(self, low: usize) {
        match self.wanted {
            Wanted::First => self.found.tell(usize::MAX - low),
            Wanted::Last => self.found.tell(low),
        }
    }
}

pub(super) fn find_first<I, P>(items: I, predicate: &P) -> Option<I::Item>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync,
{
    find(items, predicate, Wanted::First)
}

pub(super) fn find_last<I, P>(items: I, predicate: &P) -> Option<I::Item>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync,
{
    find(items, predicate, Wanted::Last)
}

fn find<I, P>(items: I, predicate: &P, wanted: Wanted) -> Option<I::Item>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync,
{
    let found = &Furthest::new();
    let search = Search { predicate, wanted, found };
    items.drive_unindexed(Positions { search, low: Cell::new(0), high: usize::MAX })
}

struct Positions<'f, P> {
    search: Search<'f, P>,
    /// The span, both ends included.
    low: Cell<usize>,
    high: usize,
}

impl<'f, T: Send, P: Fn(&T) -> bool + Sync> Consumer<T> for Positions<'f, P> {
    type Folder = FindFolder<'f, T, P>;
    type Reducer = Wanted;
    type Result = Option<T>;

    fn split_at(self, _index: usize) -> (Self, Self, Wanted) {
        let left = UnindexedConsumer::<T>::split_off_left(&self);
        let wanted = self.search.wanted;
        (left, self, wanted)
    }

    fn into_folder(self) -> Self::Folder {
        FindFolder { search: self.search, low: self.low.get(), high: self.high, item: None }
    }

    fn full(&self) -> bool {
        self.search.is_beaten(self.low.get(), self.high)
    }

    fn extend_folder(&mut self, folder: &mut Self::Folder, _count: usize) -> bool {
        // It may find an item anywhere up to this end. Its low end stays: that tells nothing wrong.
        folder.high = self.high;
        true
    }
}

impl<'f, T: Send, P: Fn(&T) -> bool + Sync> UnindexedConsumer<T> for Positions<'f, P> {
    fn split_off_left(&self) -> Self {
        let (low, high) = (self.low.get(), self.high);
        let middle = low + (high - low) / 2;
        self.low.set(if middle < high { middle + 1 } else { middle });
        Self { search: self.search, low: Cell::new(low), high: middle }
    }

    fn to_reducer(&self) -> Wanted {
        self.search.wanted
    }
}

struct FindFolder<'f, T, P> {
    search: Search<'f, P>,
    low: usize,
    high: usize,
    /// Held while other items are looked at and dropped.
    item: Option<Held<T>>,
}

impl<T, P: Fn(&T) -> bool> Folder<T> for FindFolder<'_, T, P> {
    type Result = Option<T>;

    fn consume(mut self, item: T) -> Self {
        let decided = self.search.wanted == Wanted::First && self.item.is_some();
        if !decided && (self.search.predicate)(&item) {
            self.search.tell(self.low);
            let last = self.item.replace(Held::new(item));
            drop(last.map(Held::release));
        } else {
            drop(item);
        }
        self
    }

    fn complete(self) -> Option<T> {
        self.item.map(Held::release)
    }

    fn full(&self) -> bool {
        let decided = self.search.wanted == Wanted::First && self.item.is_some();
        decided || self.search.is_beaten(self.low, self.high)
    }
}

impl<T> Reducer<Option<T>> for Wanted {
    fn reduce(self, left: Option<T>, right: Option<T>) -> Option<T> {
        match self {
            Self::First => either_of(left, right),
            Self::Last => either_of(right, left),
        }
    }
}
