//! Further blocks of memory, for sheds that grow: places of tasks, or of dependencies.

use crate::layout::Layout;
use crate::memory::{Memory, Sizes};
use core::mem::MaybeUninit;
use sateen_base::RawSpinLock;
use sateen_base::canary;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::{Ordering, UnsafeCell};

/// Most of either.
pub(crate) const MOST: u32 = 1 << 31;

/// Enough for [`MOST`]. Few in the model, whose cells are large.
const CHUNKS: usize = if cfg!(loom) { 2 } else { 31 };

/// Blocks after the first. Each is as large as all before it, so that an index says which block it is in: the first has a power of two.
pub(crate) struct Chunks<T, L: Layout> {
    first: u32,
    /// Indices below are in a block: a block is written before it is counted here, and stays as it is.
    all: AtomicU32,
    /// Held by who adds a block.
    growing: RawSpinLock,
    chunks: [UnsafeCell<MaybeUninit<Memory<T, L>>>; CHUNKS],
}

impl<T, L: Layout> Chunks<T, L> {
    pub(crate) fn new(first: u32) -> Self {
        debug_assert!(first.is_power_of_two());
        Self {
            first,
            all: AtomicU32::new(first),
            growing: RawSpinLock::new(),
            chunks: [(); CHUNKS].map(|()| UnsafeCell::new(MaybeUninit::uninit())),
        }
    }

    /// How many indices there are.
    #[inline]
    pub(crate) fn all(&self) -> u32 {
        // Ordering: Acquire, with the Release of `grow`: who knows of an index finds its block.
        self.all.load(Ordering::Acquire)
    }

    /// The block that an index after the first block's is in, and which it is there; `None` if there is no such index (yet).
    #[cold]
    pub(crate) fn find(&self, index: u32) -> Option<(&Memory<T, L>, u32)> {
        if index >= self.all() {
            return None;
        }
        let chunk = index.ilog2() - self.first.ilog2();
        // SAFETY: the index was counted, so the block was written before, and nobody writes there again.
        let memory = self.chunks[chunk as usize].with(|p| unsafe { (*p).assume_init_ref() });
        Some((memory, index - (self.first << chunk)))
    }

    /// Doubles what there was when `seen` was all, unless that has been done: `false` if there is no memory, or no index left. `sizes` makes
    /// the sizes of a block of so many.
    #[cold]
    pub(crate) fn grow(&self, seen: u32, sizes: impl FnOnce(u32) -> Sizes) -> bool {
        if seen == MOST {
            return false;
        }
        self.growing.acquire();
        let grown = self.all.load(Ordering::Relaxed) != seen || self.add(seen, sizes(seen));
        self.growing.release();
        grown
    }

    /// Adds a block of `count`, as many as there are. The caller holds the lock.
    fn add(&self, count: u32, sizes: Sizes) -> bool {
        let chunk = count.ilog2() - self.first.ilog2();
        let Some(chunk) = self.chunks.get(chunk as usize) else { return false };
        let Ok(memory) = Memory::block(sizes) else { return false };
        // SAFETY: nobody looks at it before it is counted, and nobody else writes, as the caller holds the lock.
        chunk.with_mut(|p| unsafe { (*p).write(memory) });
        let release = if canary!("grow") { Ordering::Relaxed } else { Ordering::Release };
        // Ordering: Release, with the Acquire of `all`: the block is there.
        self.all.store(count << 1, release);
        true
    }
}

impl<T, L: Layout> Drop for Chunks<T, L> {
    fn drop(&mut self) {
        let blocks = self.all.load(Ordering::Relaxed).ilog2() - self.first.ilog2();
        for chunk in &self.chunks[..blocks as usize] {
            // SAFETY: so many were written, and nobody uses them any more.
            chunk.with_mut(|p| unsafe { (*p).assume_init_drop() });
        }
    }
}
