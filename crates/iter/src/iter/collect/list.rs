//! Items of unknown number: a vector for each piece, in a list.

use crate::iter::ParallelIterator;
use crate::iter::end::{End, Ended};
use crate::iter::plumbing::Folder;
use sateen_base::unwind::discard;
use std::collections::LinkedList;

/// Items that are dropped one by one after a panic, because their destructors may panic, too.
pub(crate) struct Items<T>(pub(crate) Vec<T>);

impl<T> Drop for Items<T> {
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            std::mem::take(&mut self.0).into_iter().for_each(discard);
        }
    }
}

/// The items of pieces, in order. No vector is empty.
pub(crate) struct Collected<T>(LinkedList<Items<T>>);

/// Collects what nobody can count in advance.
pub(crate) fn collect_unknown<I: ParallelIterator>(items: I) -> Collected<I::Item> {
    items.drive_unindexed(Ended(Listed))
}

impl<T> Collected<T> {
    /// One vector of all items. A single piece's is not copied.
    pub(crate) fn into_vec(mut self) -> Vec<T> {
        let mut all = match self.0.pop_front() {
            Some(mut items) => std::mem::take(&mut items.0),
            None => Vec::new(),
        };
        self.append_to(&mut all);
        all
    }

    /// The vectors of the pieces.
    pub(crate) fn into_lists(self) -> LinkedList<Vec<T>> {
        self.0.into_iter().map(|mut items| std::mem::take(&mut items.0)).collect()
    }

    /// Moves all items to the end of `target`.
    pub(crate) fn append_to(self, target: &mut Vec<T>) {
        target.reserve(self.0.iter().map(|items| items.0.len()).sum());
        for mut items in self.0 {
            target.append(&mut items.0);
        }
    }
}

#[derive(Clone, Copy)]
struct Listed;

impl<T: Send> End<T> for Listed {
    type Folder = Listing<T>;
    type Result = Collected<T>;

    fn folder(self) -> Listing<T> {
        Listing(Items(Vec::new()))
    }

    fn reduce(self, mut left: Collected<T>, mut right: Collected<T>) -> Collected<T> {
        left.0.append(&mut right.0);
        left
    }
}

struct Listing<T>(Items<T>);

impl<T> Folder<T> for Listing<T> {
    type Result = Collected<T>;
    const FILLS: bool = false;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.0.0.push(item);
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, iter: I) -> Self {
        self.0.0.extend(iter);
        self
    }

    fn complete(self) -> Collected<T> {
        let mut list = LinkedList::new();
        if !self.0.0.is_empty() {
            list.push_back(self.0);
        }
        Collected(list)
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}
