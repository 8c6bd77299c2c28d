//! Parallel iterators over double-ended queues.

use super::through_vector;
use crate::bounds::within;
use crate::iter::ParallelDrainRange;
use crate::iter::indexed::indexed;
use std::collections::VecDeque;
use std::ops::{Range, RangeBounds};

through_vector! {
    /// The items of a queue.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::VecDeque::from([1, 2]);
    /// assert_eq!(items.into_par_iter().sum::<i32>(), 3);
    /// ```
    IntoIter[T] of impl[T] VecDeque<T> => T;
    where { T: Send }
}

through_vector! {
    /// References to the items of a queue.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let items = std::collections::VecDeque::from([1, 2]);
    /// assert_eq!(items.par_iter().sum::<i32>(), 3);
    /// ```
    Iter['a, T] of impl['a, T] &'a VecDeque<T> => &'a T;
    where { T: Sync }
}

through_vector! {
    /// Mutable references to the items of a queue.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut items = std::collections::VecDeque::from([1, 2]);
    /// items.par_iter_mut().for_each(|n| *n += 1);
    /// assert_eq!(items, std::collections::VecDeque::from([2, 3]));
    /// ```
    IterMut['a, T] of impl['a, T] &'a mut VecDeque<T> => &'a mut T;
    where { T: Send }
}

impl<'a, T: Send> ParallelDrainRange for &'a mut VecDeque<T> {
    type Iter = Drain<'a, T>;
    type Item = T;

    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'a, T> {
        let range = within(&range, self.len());
        Drain { queue: self, range }
    }
}

/// The items of a range of a queue, which leave it. Its memory stays.
///
/// A range that is not within the queue panics. If the iterator is leaked, the queue keeps all.
///
/// ```
/// use sateen::prelude::*;
/// let mut numbers = std::collections::VecDeque::from([1, 2, 3, 4]);
/// assert_eq!(numbers.par_drain(1..3).sum::<i32>(), 5);
/// assert_eq!(numbers, [1, 4]);
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Debug)]
pub struct Drain<'a, T> {
    queue: &'a mut VecDeque<T>,
    /// What is still to leave.
    range: Range<usize>,
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        drop(self.queue.drain(self.range.clone()));
    }
}

indexed! {
    impl['a, T] Drain<'a, T> => T;
    where { T: Send }
    len = |this| this.range.len();
    with_producer = |this, callback| {
        let mut this = this;
        let range = std::mem::replace(&mut this.range, 0..0);
        let mut lent = Lent::new(this.queue);
        (&mut lent.vector).par_drain(range).with_producer(callback)
    };
}

/// A queue whose items are in a vector meanwhile, in the same memory.
struct Lent<'a, T> {
    queue: &'a mut VecDeque<T>,
    vector: Vec<T>,
}

impl<'a, T> Lent<'a, T> {
    fn new(queue: &'a mut VecDeque<T>) -> Self {
        let vector = std::mem::take(queue).into();
        Self { queue, vector }
    }
}

impl<T> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        *self.queue = std::mem::take(&mut self.vector).into();
    }
}
