//! Options of a typed pool.

use super::Pool;
use crate::{BuildError, Strategy};
use std::marker::PhantomData;

/// By how much a pool grows when it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// By this many blocks at a time.
    Fixed(usize),
    /// By as many blocks as there are.
    Doubling,
}

/// Settings of a new [`Pool`]: see [`Pool::builder`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct Builder<T, S> {
    capacity: usize,
    growth: Option<(Growth, usize)>,
    _pool: PhantomData<fn() -> (T, S)>,
}

impl<T, S: Strategy> Builder<T, S> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, growth: None, _pool: PhantomData }
    }

    /// Lets the pool grow when it is full, up to `most` blocks, in at most 31 steps.
    ///
    /// Each step takes memory from the system once; the pool keeps it until it is dropped. If the
    /// system has no memory for a step, the pool is full for the moment.
    ///
    /// # Cost
    /// A pool that has grown looks for the chunk of each block that comes back (a comparison a
    /// chunk). A pool that has not pays a load and a predicted branch.
    ///
    /// # Examples
    /// ```
    /// use sateen::pool::{Growth, Pool};
    /// let pool: Pool<u64> = Pool::builder(10).grow(Growth::Doubling, 35).build()?;
    /// let boxes: Vec<_> = (0..35).map(|n| pool.try_alloc(n)).collect::<Result<_, _>>()?;
    /// assert!(pool.try_alloc(0).is_err());
    /// assert_eq!((pool.capacity(), pool.stats().chunks), (35, 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grow(mut self, by: Growth, most: usize) -> Self {
        const { assert!(S::OWN_MEMORY, "the general allocator has no limit to raise") }
        self.growth = Some((by, most));
        self
    }

    /// Makes the pool.
    ///
    /// # Errors
    /// As [`Pool::new`]; and [`BuildError::Growth`] for growth to fewer blocks, in steps of 0, or
    /// in more than 31 steps.
    pub fn build(self) -> Result<Pool<T, S>, BuildError> {
        Pool::build(self.capacity, self.growth)
    }
}
