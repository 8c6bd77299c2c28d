//! A pool without a free block.

use std::fmt;

/// Every block of the pool is in use, and it may not grow. Holds the value that was to go in.
///
/// While other threads take and give, each block was in use when it was looked at.
///
/// ```
/// # use sateen::pool::Pool;
/// let pool = Pool::<String>::new(1)?;
/// let first = pool.try_alloc("first".to_owned()).expect("room for one");
/// let full = pool.try_alloc("second".to_owned()).expect_err("full");
/// assert_eq!(full.to_string(), "the pool is full: all of its 1 blocks are in use");
/// assert_eq!(full.into_inner(), "second");
/// # Ok::<(), sateen::pool::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Full<T> {
    value: T,
    capacity: usize,
}

impl<T> Full<T> {
    pub(crate) fn new(value: T, capacity: usize) -> Self {
        Self { value, capacity }
    }

    /// The value that did not go in.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Full").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pool is full: all of its {} blocks are in use", self.capacity)
    }
}

impl<T> std::error::Error for Full<T> {}
