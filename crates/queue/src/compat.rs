//! The queues of `mpmc` with the names and methods of `crossbeam-queue`: only the `use` line
//! changes.

use crate::PushError;
use crate::mpmc::{Bounded, Unbounded};
use crate::prim::const_except_loom;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// [`Bounded`] with the interface of `crossbeam_queue::ArrayQueue`. It cannot be closed.
///
/// ```
/// use sateen::queue::ArrayQueue;
/// let queue = ArrayQueue::new(2);
/// assert_eq!(queue.push('a'), Ok(()));
/// assert_eq!(queue.push('b'), Ok(()));
/// assert_eq!(queue.push('c'), Err('c'));
/// assert_eq!(queue.pop(), Some('a'));
/// ```
pub struct ArrayQueue<T>(Bounded<T>);

impl<T> ArrayQueue<T> {
    /// An empty queue for up to `cap` items.
    ///
    /// # Panics
    /// If `cap` is 0 or above 2^48, or there is no memory for it.
    ///
    /// ```
    /// assert!(sateen::queue::ArrayQueue::<u8>::new(100).is_empty());
    /// ```
    pub fn new(cap: usize) -> Self {
        Self(Bounded::new(cap))
    }

    /// Puts `value` in at the back.
    ///
    /// # Errors
    /// The value if there is no room.
    ///
    /// ```
    /// assert_eq!(sateen::queue::ArrayQueue::new(1).push(10), Ok(()));
    /// ```
    #[inline]
    pub fn push(&self, value: T) -> Result<(), T> {
        self.0.push(value).map_err(PushError::into_inner)
    }

    /// [`ArrayQueue::push`] for a caller that has the queue alone.
    ///
    /// # Errors
    /// The value if there is no room.
    ///
    /// ```
    /// assert_eq!(sateen::queue::ArrayQueue::new(1).push_mut(10), Ok(()));
    /// ```
    pub fn push_mut(&mut self, value: T) -> Result<(), T> {
        self.push(value)
    }

    /// Puts `value` in at the back. If there is no room, takes the value at the front out and
    /// returns it.
    ///
    /// ```
    /// let queue = sateen::queue::ArrayQueue::new(1);
    /// assert_eq!(queue.force_push(10), None);
    /// assert_eq!(queue.force_push(20), Some(10));
    /// ```
    pub fn force_push(&self, value: T) -> Option<T> {
        self.0.force_push(value).unwrap_or_else(|closed| Some(closed.into_inner()))
    }

    /// Takes the value at the front, or `None` if there is none.
    ///
    /// ```
    /// assert_eq!(sateen::queue::ArrayQueue::<u8>::new(1).pop(), None);
    /// ```
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.0.pop().ok()
    }

    /// [`ArrayQueue::pop`] for a caller that has the queue alone.
    ///
    /// ```
    /// assert_eq!(sateen::queue::ArrayQueue::<u8>::new(1).pop_mut(), None);
    /// ```
    pub fn pop_mut(&mut self) -> Option<T> {
        self.pop()
    }

    /// How many values it can hold.
    ///
    /// ```
    /// assert_eq!(sateen::queue::ArrayQueue::<u8>::new(100).capacity(), 100);
    /// ```
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Whether it was empty at some moment during the call.
    ///
    /// ```
    /// assert!(sateen::queue::ArrayQueue::<u8>::new(1).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it was full at some moment during the call.
    ///
    /// ```
    /// assert!(!sateen::queue::ArrayQueue::<u8>::new(1).is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// How many values were in it at some moment during the call.
    ///
    /// ```
    /// assert_eq!(sateen::queue::ArrayQueue::<u8>::new(1).len(), 0);
    /// ```
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// [`Unbounded`] with the interface of `crossbeam_queue::SegQueue`. It cannot be closed.
///
/// ```
/// let queue = sateen::queue::SegQueue::new();
/// queue.push('a');
/// queue.push('b');
/// assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some('a'), Some('b'), None));
/// ```
pub struct SegQueue<T>(Unbounded<T>);

impl<T> SegQueue<T> {
    const_except_loom! {
        /// An empty queue. Takes no memory before the first push.
        ///
        /// ```
        /// static QUEUE: sateen::queue::SegQueue<u8> = sateen::queue::SegQueue::new();
        /// assert!(QUEUE.is_empty());
        /// ```
        pub const fn new() -> Self {
            Self(Unbounded::new())
        }
    }

    /// Puts `value` in at the back.
    ///
    /// ```
    /// sateen::queue::SegQueue::new().push(10);
    /// ```
    #[inline]
    pub fn push(&self, value: T) {
        let pushed = self.0.push(value);
        debug_assert!(pushed.is_ok(), "it cannot be closed");
    }

    /// [`SegQueue::push`] for a caller that has the queue alone.
    ///
    /// ```
    /// sateen::queue::SegQueue::new().push_mut(10);
    /// ```
    pub fn push_mut(&mut self, value: T) {
        self.push(value);
    }

    /// Takes the value at the front, or `None` if there is none.
    ///
    /// ```
    /// assert_eq!(sateen::queue::SegQueue::<u8>::new().pop(), None);
    /// ```
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.0.pop().ok()
    }

    /// [`SegQueue::pop`] for a caller that has the queue alone.
    ///
    /// ```
    /// assert_eq!(sateen::queue::SegQueue::<u8>::new().pop_mut(), None);
    /// ```
    pub fn pop_mut(&mut self) -> Option<T> {
        self.pop()
    }

    /// Whether it was empty at some moment during the call.
    ///
    /// ```
    /// assert!(sateen::queue::SegQueue::<u8>::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many values were in it at some moment during the call.
    ///
    /// ```
    /// assert_eq!(sateen::queue::SegQueue::<u8>::new().len(), 0);
    /// ```
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> Default for SegQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! common {
    ($($queue:ident, $name:literal;)*) => { $(
        impl<T> UnwindSafe for $queue<T> {}
        impl<T> RefUnwindSafe for $queue<T> {}

        impl<T> fmt::Debug for $queue<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad($name)
            }
        }

        impl<T> IntoIterator for $queue<T> {
            type Item = T;
            type IntoIter = IntoIter<Self>;

            fn into_iter(self) -> IntoIter<Self> {
                IntoIter(self)
            }
        }

        impl<T> Iterator for IntoIter<$queue<T>> {
            type Item = T;

            fn next(&mut self) -> Option<T> {
                self.0.pop()
            }
        }
    )* };
}

/// The values left in a queue, in order.
///
/// ```
/// let queue = sateen::queue::SegQueue::new();
/// queue.push(1);
/// assert_eq!(queue.into_iter().collect::<Vec<_>>(), [1]);
/// ```
#[derive(Debug)]
pub struct IntoIter<Q>(Q);

common! {
    ArrayQueue, "ArrayQueue { .. }";
    SegQueue, "SegQueue { .. }";
}
