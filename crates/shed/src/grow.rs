//! Further blocks of memory for sheds that grow: slots of tasks, or dependencies.

use crate::block::{Block, Sizes};
use crate::layout::Layout;
use core::mem::MaybeUninit;
use sateen_base::RawSpinLock;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::{Ordering, UnsafeCell};

/// The largest number of slots, and of dependencies.
pub(crate) const MAX: u32 = 1 << 31;

/// Enough blocks for [`MAX`]. Few in the model, whose cells are large.
const BLOCKS: usize = if cfg!(loom) { 2 } else { 31 };

/// The blocks after the first. Each is as large as all before it together, and the first has a
/// power of two. So the highest bit of an index says which block it is in.
pub(crate) struct Blocks<T, L: Layout> {
    first: u32,
    /// Indices below this lie in a block. A block is written before it is counted here, and never
    /// changes afterwards.
    all: AtomicU32,
    /// Held by the thread that adds a block.
    growing: RawSpinLock,
    blocks: [UnsafeCell<MaybeUninit<Block<T, L>>>; BLOCKS],
}

impl<T, L: Layout> Blocks<T, L> {
    pub(crate) fn new(first: u32) -> Self {
        debug_assert!(first.is_power_of_two());
        Self {
            first,
            all: AtomicU32::new(first),
            growing: RawSpinLock::new(),
            blocks: [(); BLOCKS].map(|()| UnsafeCell::new(MaybeUninit::uninit())),
        }
    }

    /// How many indices there are.
    #[inline]
    pub(crate) fn all(&self) -> u32 {
        // Ordering: Acquire, with the Release of `add`: a thread that knows an index finds its
        // block.
        self.all.load(Ordering::Acquire)
    }

    /// The block of an index beyond the first block, and the index within it. `None` if there is
    /// no such index yet.
    #[cold]
    pub(crate) fn find(&self, index: u32) -> Option<(&Block<T, L>, u32)> {
        if index >= self.all() {
            return None;
        }
        let number = index.ilog2() - self.first.ilog2();
        // SAFETY: the index was counted, so the block was written before, and is never written
        // again.
        let block = self.blocks[number as usize].with(|p| unsafe { (*p).assume_init_ref() });
        Some((block, index - (self.first << number)))
    }

    /// Doubles the number of indices, unless it has risen above `seen` already. `sizes` makes the
    /// sizes of a block of that size. Returns `false` if there is no memory, or no index left.
    #[cold]
    pub(crate) fn grow(&self, seen: u32, sizes: impl FnOnce(u32) -> Sizes) -> bool {
        if seen == MAX {
            return false;
        }
        self.growing.acquire();
        let grown = self.all.load(Ordering::Relaxed) != seen || self.add(seen, sizes(seen));
        self.growing.release();
        grown
    }

    /// Adds a block with `count` indices, as many as there are. The caller holds the lock.
    fn add(&self, count: u32, sizes: Sizes) -> bool {
        let number = count.ilog2() - self.first.ilog2();
        let Some(cell) = self.blocks.get(number as usize) else { return false };
        let Ok(block) = Block::new(sizes) else { return false };
        // SAFETY: no thread reads it before it is counted, and only the lock's holder writes.
        cell.with_mut(|p| unsafe { (*p).write(block) });
        // Ordering: Release, with the Acquire of `all`: the block is there.
        self.all.store(count << 1, Ordering::Release);
        true
    }
}

impl<T, L: Layout> Drop for Blocks<T, L> {
    fn drop(&mut self) {
        let written = self.all.load(Ordering::Relaxed).ilog2() - self.first.ilog2();
        for block in &self.blocks[..written as usize] {
            // SAFETY: this many were written, and this is their last use.
            block.with_mut(|p| unsafe { (*p).assume_init_drop() });
        }
    }
}
