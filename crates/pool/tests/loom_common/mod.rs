//! A pool under the model checker, which sees the user of each block.
#![allow(dead_code, reason = "each model uses its part")]

use loom::cell::UnsafeCell;
use sateen_pool::{BlockPool, Strategy};

/// Beside each block lies a cell, which the block's user writes. The model fails if two users write
/// at a time, or if one has not seen the other's write.
pub(crate) struct Watched<S: Strategy> {
    pub(crate) pool: BlockPool<S>,
    cells: Vec<UnsafeCell<u32>>,
}

// SAFETY: the cells are what the model checks.
unsafe impl<S: Strategy + Sync> Sync for Watched<S> {}
// SAFETY: as above.
unsafe impl<S: Strategy + Send> Send for Watched<S> {}

impl<S: Strategy> Watched<S> {
    pub(crate) fn new(capacity: usize) -> Self {
        let cells = (0..capacity).map(|_| UnsafeCell::new(0)).collect();
        Self { pool: BlockPool::new(capacity, 8, 8).expect("memory"), cells }
    }

    /// Takes a block and returns its index.
    pub(crate) fn take(&self) -> Option<usize> {
        let index = self.pool.blocks().index_of(self.pool.take()?);
        // SAFETY: this thread has the block. Otherwise the model fails.
        self.cells[index].with_mut(|used| unsafe {
            assert_eq!(*used, 0, "block {index} twice");
            *used = 1;
        });
        Some(index)
    }

    /// Gives a block back. The index comes from `take` and is given once.
    pub(crate) fn give(&self, index: usize) {
        // SAFETY: as in `take`.
        self.cells[index].with_mut(|used| unsafe { *used = 0 });
        // SAFETY: the models give each block that they took once.
        unsafe { self.pool.give(self.pool.blocks().at(index)) };
    }

    /// Takes all blocks that are left, while no other thread is there.
    pub(crate) fn rest(&self) -> Vec<usize> {
        let mut rest: Vec<usize> = std::iter::from_fn(|| self.take()).collect();
        rest.sort_unstable();
        rest
    }
}
