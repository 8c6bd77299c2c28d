//! The outcome of a steal.

use std::fmt;

/// The outcome of a steal.
///
/// ```
/// use sateen::deque::Steal::{self, Empty, Retry, Success};
///
/// let first = |all: [Steal<i32>; 3]| all.into_iter().collect::<Steal<i32>>();
/// assert_eq!(first([Empty, Retry, Success(1)]), Success(1));
/// assert_eq!(first([Empty, Retry, Empty]), Retry);
/// assert_eq!(first([Empty, Empty, Empty]), Empty);
/// ```
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Steal<T> {
    /// There was no item to steal.
    Empty,
    /// An item was stolen.
    Success(T),
    /// Another thread was faster; try again.
    Retry,
}

impl<T> Steal<T> {
    /// Whether there was no item to steal.
    ///
    /// ```
    /// assert!(sateen::deque::Steal::<u8>::Empty.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Whether an item was stolen.
    ///
    /// ```
    /// assert!(sateen::deque::Steal::Success(1).is_success());
    /// ```
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Success(_))
    }

    /// Whether another try may succeed.
    ///
    /// ```
    /// assert!(sateen::deque::Steal::<u8>::Retry.is_retry());
    /// ```
    pub fn is_retry(&self) -> bool {
        matches!(self, Self::Retry)
    }

    /// The stolen item, if there is one.
    ///
    /// ```
    /// use sateen::deque::Steal;
    /// assert_eq!(Steal::Success(1).success(), Some(1));
    /// assert_eq!(Steal::<u8>::Retry.success(), None);
    /// ```
    pub fn success(self) -> Option<T> {
        match self {
            Self::Success(stolen) => Some(stolen),
            Self::Empty | Self::Retry => None,
        }
    }

    /// Tries `f` if no item was stolen. If that steals none either, the outcome is `Retry` if one
    /// of the two was.
    ///
    /// ```
    /// use sateen::deque::Steal::{Empty, Retry, Success};
    /// assert_eq!(Success(1).or_else(|| Success(2)), Success(1));
    /// assert_eq!(Retry.or_else(|| Success(2)), Success(2));
    /// assert_eq!(Retry.or_else(|| Empty::<u8>), Retry);
    /// assert_eq!(Empty.or_else(|| Empty::<u8>), Empty);
    /// ```
    pub fn or_else<F>(self, f: F) -> Self
    where
        F: FnOnce() -> Self,
    {
        match self {
            Self::Empty => f(),
            Self::Success(_) => self,
            Self::Retry => match f() {
                Self::Empty => Self::Retry,
                other => other,
            },
        }
    }
}

/// The first success; without one, `Retry` if there was any. Takes no more outcomes than it needs.
impl<T> FromIterator<Steal<T>> for Steal<T> {
    fn from_iter<I: IntoIterator<Item = Self>>(outcomes: I) -> Self {
        let mut none = Self::Empty;
        for outcome in outcomes {
            match outcome {
                Self::Success(_) => return outcome,
                Self::Retry => none = Self::Retry,
                Self::Empty => {}
            }
        }
        none
    }
}

impl<T> fmt::Debug for Steal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Empty => "Empty",
            Self::Success(_) => "Success(..)",
            Self::Retry => "Retry",
        })
    }
}
