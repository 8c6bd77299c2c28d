//! The strategy that caches free blocks for each thread.

mod bitmap;
mod cache;
mod caches;
mod depot;
mod heap;
mod sizes;

use crate::{Allocate, Blocks, BuildError, Counts, NoCount, SearchCounter};
use bitmap::Bitmap;
use caches::Caches;
use depot::Depot as _;
pub use heap::HeapMagazine;
pub use sizes::HeapSizes;
use std::ptr::NonNull;

/// Each thread keeps free blocks of its own; batches of up to 64 go between it and a bitmap that
/// all threads share.
///
/// A thread that finds the bitmap empty takes away what other threads keep, including dead ones, so
/// that no block is out of reach. `None` means that at some moment all blocks were in use. Threads
/// beyond 1,024 at a time, and threads about to end, use the bitmap under a lock.
///
/// The type parameter counts searches, for the lab.
///
/// # Cost
/// Taking and giving are a few loads and stores without a locked instruction. Taking blocks away
/// from other threads costs up to 22 µs, at most once in 1,024 operations of a thread.
///
/// # Examples
/// ```
/// use sateen::pool::{BlockPool, Magazine};
/// let pool = BlockPool::<Magazine>::new(1000, 12, 4)?;
/// let block = pool.take().expect("none is in use");
/// // SAFETY: from this pool, and not used any more.
/// unsafe { pool.give(block) };
/// assert_eq!(pool.in_use(), 0);
/// # Ok::<(), sateen::pool::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Magazine<P: SearchCounter = NoCount> {
    caches: Caches<Bitmap<P>>,
    /// Which blocks are in use, one bit each.
    #[cfg(all(debug_assertions, not(loom)))]
    out: crate::zeroed::Zeroed<sateen_base::prim::AtomicU64>,
}

impl<P: SearchCounter> Magazine<P> {
    #[cfg(all(debug_assertions, not(loom)))]
    fn goes(&self, blocks: &Blocks, block: NonNull<u8>, out: bool) {
        use sateen_base::prim::Ordering::Relaxed;
        assert!(blocks.contains(block), "{block:p} is no block of this pool");
        let index = blocks.index_of(block);
        let (word, bit) = (&self.out[index / 64], 1 << (index % 64));
        // Relaxed: only a block's holder changes its bit.
        let before = if out { word.fetch_or(bit, Relaxed) } else { word.fetch_and(!bit, Relaxed) };
        assert!(out || before & bit != 0, "block {index} at {block:p} was free already");
        assert!(!out || before & bit == 0, "block {index} at {block:p} was given out twice");
    }

    #[cfg(not(all(debug_assertions, not(loom))))]
    #[inline(always)]
    fn goes(&self, _: &Blocks, _: NonNull<u8>, _: bool) {}

    /// As `take`, by the owner of cache `lane`.
    #[cfg(loom)]
    #[doc(hidden)]
    pub fn take_as(&self, lane: usize, blocks: &Blocks) -> Option<NonNull<u8>> {
        self.caches.take_in(lane, blocks)
    }

    /// As `give`, by the owner of cache `lane`.
    ///
    /// # Safety
    /// As `give`.
    #[cfg(loom)]
    #[doc(hidden)]
    pub unsafe fn give_as(&self, lane: usize, blocks: &Blocks, block: NonNull<u8>) {
        // SAFETY: passed on.
        unsafe { self.caches.give_in(lane, blocks, block) }
    }
}

// SAFETY: a block is in one cache, or free in the bitmap, or in use; README, section "Magazine".
unsafe impl<P: SearchCounter> Allocate for Magazine<P> {
    const NAME: &'static str = "magazine";

    fn new(blocks: &Blocks) -> Result<Self, BuildError> {
        let capacity = blocks.capacity();
        Ok(Self {
            caches: Caches::new(Bitmap::new(blocks)?, capacity)?,
            #[cfg(all(debug_assertions, not(loom)))]
            out: crate::zeroed::Zeroed::new(capacity.div_ceil(64))
                .map_err(|_| BuildError::OutOfMemory { bytes: capacity.div_ceil(8) })?,
        })
    }

    #[inline(always)]
    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>> {
        let block = self.caches.take(blocks)?;
        self.goes(blocks, block, true);
        Some(block)
    }

    #[inline(always)]
    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>) {
        self.goes(blocks, block, false);
        // SAFETY: passed on.
        unsafe { self.caches.give(blocks, block) };
    }

    fn in_use(&self, blocks: &Blocks) -> usize {
        let free = self.caches.depot.free() + self.caches.cached();
        blocks.capacity().saturating_sub(free)
    }

    fn bookkeeping(&self) -> usize {
        self.caches.depot.bytes() + self.caches.bytes()
    }

    fn counts(&self) -> Counts {
        self.caches.depot.probe().counts()
    }
}
