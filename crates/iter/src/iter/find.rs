//! `find_any`: the first item that anybody finds.

use super::ParallelIterator;
use super::end::{End, Ended, apart, either_of};
use super::flag::Flag;
use super::plumbing::Folder;
use sateen_base::unwind::Held;

struct Find<'f, P> {
    predicate: &'f P,
    found: &'f Flag,
}

impl<P> Clone for Find<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Find<'_, P> {}

pub(super) fn find_any<I, P>(items: I, predicate: &P) -> Option<I::Item>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync,
{
    let found = &Flag::new();
    items.drive_unindexed(Ended(Find { predicate, found }))
}

impl<'f, T: Send, P: Fn(&T) -> bool + Sync> End<T> for Find<'f, P> {
    type Folder = FindFolder<'f, T, P>;
    type Result = Option<T>;

    #[inline]
    fn folder(self) -> Self::Folder {
        FindFolder { find: self, item: None }
    }

    #[inline]
    fn reduce(self, left: Option<T>, right: Option<T>) -> Option<T> {
        either_of(left, right)
    }

    #[inline]
    fn full(self) -> bool {
        self.found.is_raised()
    }
}

struct FindFolder<'f, T, P> {
    find: Find<'f, P>,
    item: Option<T>,
}

impl<T, P: Fn(&T) -> bool> Folder<T> for FindFolder<'_, T, P> {
    type Result = Option<T>;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        if self.item.is_none() && (self.find.predicate)(&item) {
            self.find.found.raise();
            self.item = Some(item);
        }
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, iter: I) -> Self {
        let found = apart(|| search(self.find, iter.into_iter()));
        if found.is_some() {
            self.item = found;
        }
        self
    }

    #[inline]
    fn complete(self) -> Option<T> {
        self.item
    }

    #[inline]
    fn full(&self) -> bool {
        self.find.found.is_raised()
    }
}

/// Items between two looks at the flag. As many have one branch back, so where the loop lies in
/// memory matters less. A loop over single items was much slower in some builds.
const ITEMS_PER_LOOK: usize = 4;

#[inline(always)]
fn search<T, P: Fn(&T) -> bool>(
    find: Find<'_, P>,
    mut items: impl Iterator<Item = T>,
) -> Option<T> {
    let Find { predicate, found } = find;
    let item = 'found: loop {
        if found.is_raised() {
            return None;
        }
        for _ in 0..ITEMS_PER_LOOK {
            let item = items.next()?;
            if predicate(&item) {
                break 'found item;
            }
        }
    };
    found.raise();
    // Held while the other items are dropped.
    let item = Held::new(item);
    drop(items);
    Some(item.release())
}
