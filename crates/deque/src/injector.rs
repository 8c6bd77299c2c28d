//! The shared queue through which other threads hand work in.

use crate::Steal;
use crate::stage::Stage;
use crate::stealer::MAX_BATCH;
use crate::worker::{Landing, Worker};
use sateen_queue::mpmc::Unbounded;
use std::fmt;

/// A first-in first-out queue that any thread pushes to and any thread steals from.
///
/// An unbounded queue with the names of `crossbeam-deque`. It never returns `Retry`: a thread that
/// loses a race tries again inside.
///
/// ```
/// use sateen::deque::{Injector, Steal};
///
/// let q = Injector::new();
/// q.push(1);
/// q.push(2);
/// assert_eq!(q.steal(), Steal::Success(1));
/// assert_eq!(q.steal(), Steal::Success(2));
/// assert_eq!(q.steal(), Steal::Empty);
/// ```
pub struct Injector<T>(Unbounded<T>);

impl<T> Default for Injector<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Injector<T> {
    /// An empty queue.
    ///
    /// ```
    /// assert!(sateen::deque::Injector::<u8>::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Self(Unbounded::new())
    }

    /// Puts `item` in at the back.
    ///
    /// ```
    /// sateen::deque::Injector::new().push(1);
    /// ```
    pub fn push(&self, item: T) {
        let pushed = self.0.push(item);
        debug_assert!(pushed.is_ok(), "an injector is never closed");
    }

    /// Takes the item at the front.
    ///
    /// ```
    /// let q = sateen::deque::Injector::from_iter([1]);
    /// assert_eq!(q.steal().success(), Some(1));
    /// ```
    pub fn steal(&self) -> Steal<T> {
        self.0.pop().map_or(Steal::Empty, Steal::Success)
    }

    /// Moves items from the front to `dest`: half of them, at most 32 and not across a
    /// segment's end. `dest` gives them out in the order in which they came in.
    ///
    /// ```
    /// use sateen::deque::{Injector, Worker};
    /// let q = Injector::from_iter(1..=4);
    /// let w = Worker::new_fifo();
    /// assert!(q.steal_batch(&w).is_success());
    /// assert_eq!((w.pop(), w.pop(), w.pop()), (Some(1), Some(2), None));
    /// ```
    pub fn steal_batch<S: Stage>(&self, dest: &Worker<T, S>) -> Steal<()> {
        self.steal_batch_with_limit(dest, MAX_BATCH)
    }

    /// [`Injector::steal_batch`] of at most `limit` items.
    ///
    /// # Panics
    /// If `limit` is 0.
    ///
    /// ```
    /// use sateen::deque::{Injector, Worker};
    /// let q = Injector::from_iter(1..=6);
    /// let w = Worker::new_fifo();
    /// assert!(q.steal_batch_with_limit(&w, 2).is_success());
    /// assert_eq!(w.len(), 2);
    /// ```
    pub fn steal_batch_with_limit<S: Stage>(&self, dest: &Worker<T, S>, limit: usize) -> Steal<()> {
        match self.steal_many(dest, limit, false) {
            Some(_) => Steal::Success(()),
            None => Steal::Empty,
        }
    }

    /// [`Injector::steal_batch`], with the first item returned instead.
    ///
    /// ```
    /// use sateen::deque::{Injector, Steal, Worker};
    /// let q = Injector::from_iter(1..=4);
    /// let w = Worker::new_fifo();
    /// assert_eq!(q.steal_batch_and_pop(&w), Steal::Success(1));
    /// assert_eq!(w.pop(), Some(2));
    /// ```
    pub fn steal_batch_and_pop<S: Stage>(&self, dest: &Worker<T, S>) -> Steal<T> {
        self.steal_batch_with_limit_and_pop(dest, MAX_BATCH + 1)
    }

    /// [`Injector::steal_batch_and_pop`] of at most `limit` items, the returned one included.
    ///
    /// # Panics
    /// If `limit` is 0.
    ///
    /// ```
    /// use sateen::deque::{Injector, Steal, Worker};
    /// let q = Injector::from_iter(1..=6);
    /// let w = Worker::new_fifo();
    /// assert_eq!(q.steal_batch_with_limit_and_pop(&w, 2), Steal::Success(1));
    /// assert_eq!((w.pop(), w.pop()), (Some(2), None));
    /// ```
    pub fn steal_batch_with_limit_and_pop<S: Stage>(
        &self,
        dest: &Worker<T, S>,
        limit: usize,
    ) -> Steal<T> {
        match self.steal_many(dest, limit, true) {
            Some(kept) => kept.map_or(Steal::Retry, Steal::Success),
            None => Steal::Empty,
        }
    }

    fn steal_many<S: Stage>(
        &self,
        dest: &Worker<T, S>,
        limit: usize,
        keep: bool,
    ) -> Option<Option<T>> {
        let mut batch = self.0.pop_batch(limit)?;
        let kept = if keep { batch.next() } else { None };
        // A segment's slots fit 32 bits by far.
        let mut landing = Landing::new(dest, batch.len() as u32);
        for item in batch {
            // SAFETY: room was made for as many as the batch holds.
            unsafe { landing.put(item) };
        }
        landing.finish(!dest.flavor.is_fifo());
        Some(kept)
    }

    /// Whether the queue was empty at some moment during the call.
    ///
    /// ```
    /// assert!(!sateen::deque::Injector::from_iter([1]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many items were in the queue at some moment during the call.
    ///
    /// ```
    /// assert_eq!(sateen::deque::Injector::from_iter(0..9).len(), 9);
    /// ```
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> Extend<T> for Injector<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.0.extend(items);
    }
}

impl<T> FromIterator<T> for Injector<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<T> fmt::Debug for Injector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Injector { .. }")
    }
}
