//! `par_bridge`: the items of any iterator, taken one by one under a lock.
//!
//! A worker takes the next item only when it is done with the last one. If it took several at a
//! time, an iterator that waits for the effects of an item would wait for ever.

use super::ParallelIterator;
use super::flag::{Armed, Flag};
use super::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use sateen_base::unwind::Held;
use sateen_sync::Mutex;

/// What can share its items among workers: each iterator that may be sent, with such items.
pub trait ParallelBridge: Sized {
    /// A parallel iterator over the items, in no order. For slow items: each costs a lock.
    ///
    /// The lock is held while the iterator advances, not while its items are worked on. Meanwhile
    /// the iterator may wait, or call parallel iterators. It is not asked again after its end.
    ///
    /// # Panics
    /// With a panic of the iterator. No items are taken after a panic.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// std::thread::spawn(move || (0..10).for_each(|n| sender.send(n).expect("a receiver")));
    /// assert_eq!(receiver.into_iter().par_bridge().sum::<i32>(), 45);
    /// ```
    fn par_bridge(self) -> IterBridge<Self>;
}

impl<I: Iterator<Item: Send> + Send> ParallelBridge for I {
    fn par_bridge(self) -> IterBridge<Self> {
        IterBridge { iter: self }
    }
}

/// The items of an iterator: what [`par_bridge`](ParallelBridge::par_bridge) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct IterBridge<I> {
    iter: I,
}

impl<I: Iterator<Item: Send> + Send> ParallelIterator for IterBridge<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let source = Source { iter: Mutex::new(Held::new(self.iter)), ended: Flag::new() };
        let result = Held::new(bridge_unindexed(Share(&source), consumer));
        drop(source.iter.into_inner().release());
        result.release()
    }
}

/// The iterator, which each share asks under a lock.
struct Source<I> {
    iter: Mutex<Held<I>>,
    /// Nobody asks any more: the iterator has ended, or something has panicked.
    ended: Flag,
}

impl<I: Iterator> Source<I> {
    fn next(&self) -> Option<I::Item> {
        if self.ended.is_raised() {
            return None;
        }
        let mut iter = self.iter.lock();
        if self.ended.is_raised() {
            return None;
        }
        // Raised under the lock, also by a panic, so the next holder sees it.
        let armed = Armed(&self.ended);
        let item = iter.next()?;
        armed.disarm();
        Some(item)
    }
}

/// What a piece takes items from.
struct Share<'s, I>(&'s Source<I>);

impl<I: Iterator<Item: Send> + Send> UnindexedProducer for Share<'_, I> {
    type Item = I::Item;

    fn split(self) -> (Self, Option<Self>) {
        let other = (!self.0.ended.is_raised()).then_some(Self(self.0));
        (self, other)
    }

    fn fold_with<F: Folder<I::Item>>(self, mut folder: F) -> F {
        // No piece goes on after a panic in another, or the loop might never end.
        let armed = Armed(&self.0.ended);
        while !folder.full() {
            // The lock is free again before the item is worked on.
            let Some(item) = self.0.next() else { break };
            folder = folder.consume(item);
        }
        armed.disarm();
        folder
    }
}
