//! Pools of raw blocks.

use crate::{Blocks, BuildError, Counts, Strategy};
use std::alloc::Layout;
use std::fmt;
use std::ptr::NonNull;

/// A fixed number of memory blocks of one size and alignment, in memory taken once.
///
/// Do not use it in signal handlers: a handler that interrupts an operation of its thread could get
/// the same block.
pub struct BlockPool<S: Strategy> {
    blocks: Blocks,
    strategy: S,
}

impl<S: Strategy> BlockPool<S> {
    /// `capacity` blocks of `size` bytes, aligned to `align`.
    ///
    /// # Errors
    /// [`BuildError`]: a capacity or size of 0, an alignment that is no power of two, or more
    /// memory than can be addressed or had.
    pub fn new(capacity: usize, size: usize, align: usize) -> Result<Self, BuildError> {
        if capacity > S::MOST {
            return Err(BuildError::Capacity { asked: capacity, most: S::MOST });
        }
        let blocks = Blocks::new(capacity, size, align, S::LEAST, S::OWN_MEMORY)?;
        let strategy = S::new(&blocks)?;
        Ok(Self { blocks, strategy })
    }

    /// Takes a free block; `None` if none is left.
    #[inline]
    pub fn take(&self) -> Option<NonNull<u8>> {
        // SAFETY: made for these blocks, which are the pool's alone.
        unsafe { self.strategy.take(&self.blocks) }
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// [`take`](Self::take) of this pool returned it, and no code uses it any more.
    #[inline]
    pub unsafe fn give(&self, block: NonNull<u8>) {
        // SAFETY: passed on.
        unsafe { self.strategy.give(&self.blocks, block) };
    }

    /// The number of blocks.
    pub fn capacity(&self) -> usize {
        self.blocks.capacity()
    }

    /// Size and alignment of a block.
    pub fn layout(&self) -> Layout {
        self.blocks.layout()
    }

    /// Where the blocks lie.
    #[doc(hidden)]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// How free blocks are found.
    #[doc(hidden)]
    pub fn strategy(&self) -> &S {
        &self.strategy
    }

    /// Blocks in use: exact while no thread takes or gives, a guess otherwise.
    pub fn in_use(&self) -> usize {
        self.strategy.in_use(&self.blocks)
    }

    /// The bytes that the strategy needs in addition to the blocks.
    #[doc(hidden)]
    pub fn bookkeeping(&self) -> usize {
        self.strategy.bookkeeping()
    }

    /// What the strategy's counter counted.
    #[doc(hidden)]
    pub fn counts(&self) -> Counts {
        self.strategy.counts()
    }
}

impl<S: Strategy> fmt::Debug for BlockPool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockPool")
            .field("strategy", &S::NAME)
            .field("capacity", &self.capacity())
            .field("layout", &self.layout())
            .finish_non_exhaustive()
    }
}
