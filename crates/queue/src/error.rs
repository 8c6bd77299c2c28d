//! Why a queue did not take or give an item.

use std::error::Error;
use std::fmt;

/// Why a push failed; holds the item.
///
/// ```
/// use sateen::queue::{PushError, mpmc::Bounded};
/// let queue = Bounded::new(1);
/// assert_eq!(queue.push('a'), Ok(()));
/// assert_eq!(queue.push('b'), Err(PushError::Full('b')));
/// queue.close();
/// assert_eq!(queue.push('c').unwrap_err().into_inner(), 'c');
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PushError<T> {
    /// There is no room now.
    Full(T),
    /// The queue is closed: there will never be room.
    Closed(T),
}

impl<T> PushError<T> {
    /// The item back.
    ///
    /// ```
    /// assert_eq!(sateen::queue::PushError::Full(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(item) | Self::Closed(item) => item,
        }
    }

    /// Whether there may be room later.
    ///
    /// ```
    /// assert!(sateen::queue::PushError::Full(7).is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether there will never be room.
    ///
    /// ```
    /// assert!(sateen::queue::PushError::Closed(7).is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    fn reason(&self) -> &'static str {
        match self {
            Self::Full(_) => "the queue is full",
            Self::Closed(_) => "the queue is closed",
        }
    }
}

/// Items need not be `Debug`.
impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl<T> Error for PushError<T> {}

/// Why a pop found no item.
///
/// ```
/// use sateen::queue::{PopError, mpmc::Unbounded};
/// let queue = Unbounded::from_iter([1]);
/// queue.close();
/// assert_eq!(queue.pop(), Ok(1));
/// assert_eq!(queue.pop(), Err(PopError::Closed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PopError {
    /// There is no item now.
    Empty,
    /// The queue is closed and drained: there will never be an item.
    Closed,
}

impl PopError {
    /// Whether an item may come later.
    ///
    /// ```
    /// assert!(sateen::queue::PopError::Empty.is_empty());
    /// ```
    pub fn is_empty(self) -> bool {
        self == Self::Empty
    }

    /// Whether there will never be an item.
    ///
    /// ```
    /// assert!(sateen::queue::PopError::Closed.is_closed());
    /// ```
    pub fn is_closed(self) -> bool {
        self == Self::Closed
    }
}

impl fmt::Display for PopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the queue is empty",
            Self::Closed => "the queue is closed and drained",
        })
    }
}

impl Error for PopError {}
