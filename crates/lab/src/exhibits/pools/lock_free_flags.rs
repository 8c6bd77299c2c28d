//! One word a block, taken by exchange: no lock.
//!
//! | flag | meaning |
//! |---|---|
//! | [`FREE`] | the block is free; the thread that exchanges it for `USED` has the block |
//! | [`USED`] | the block has a user, who alone may store `FREE` |
//!
//! The table says which thread writes `flags`; `last` is a hint that any thread stores.

use super::array;
use sateen_base::CachePadded;
use sateen_pool::{Allocate, Blocks, BuildError, Counts, NoCount, SearchCounter};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

const FREE: u32 = 0;
const USED: u32 = 1;

/// A 32-bit flag for each block, without a lock; searched round-robin from the block taken last.
///
/// [`take`](Allocate::take) costs one locked instruction if the next block is free. It looks at
/// each block in use on its way, in the worst case at all of them: a pool that is almost full, or
/// whose old blocks lie side by side, is slow. `None` means that each block was in use when it was
/// looked at.
///
/// Source: the "lock-free memory pool" of *MultiCore benchmarks: memory allocation* (2012).
#[derive(Debug)]
pub(crate) struct LockFreeFlags<P = NoCount> {
    flags: Box<[AtomicU32]>,
    last: CachePadded<AtomicUsize>,
    probe: P,
}

// SAFETY: 1: a flag leaves `FREE` only by the exchange of one caller, who gets the block. 2: the
// store of `FREE` is a release that the next exchange acquires. 3: indices are those of `blocks`.
unsafe impl<P: SearchCounter> Allocate for LockFreeFlags<P> {
    const NAME: &'static str = "lock-free-flags";

    fn new(blocks: &Blocks) -> Result<Self, BuildError> {
        let capacity = blocks.capacity();
        Ok(Self {
            flags: array(capacity, |_| AtomicU32::new(FREE))?,
            last: CachePadded::new(AtomicUsize::new(capacity - 1)),
            probe: P::default(),
        })
    }

    #[inline]
    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>> {
        let mut at = self.last.load(Ordering::Relaxed);
        let mut retries = 0;
        for looked in 1..=self.flags.len() {
            at = if at + 1 == self.flags.len() { 0 } else { at + 1 };
            let flag = &self.flags[at];
            if flag.load(Ordering::Relaxed) != FREE {
                continue;
            }
            // Ordering: Acquire pairs with the Release in `give`: the last user's accesses come
            // first.
            let won = flag.compare_exchange(FREE, USED, Ordering::Acquire, Ordering::Relaxed);
            if won.is_ok() {
                self.last.store(at, Ordering::Relaxed);
                self.probe.took(looked as u64, retries);
                // SAFETY: there are as many flags as blocks.
                return Some(unsafe { blocks.block(at) });
            }
            retries += 1;
        }
        self.probe.took(self.flags.len() as u64, retries);
        None
    }

    #[inline]
    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>) {
        let index = blocks.index_of(block);
        let flag = &self.flags[index];
        let used = !cfg!(debug_assertions) || flag.load(Ordering::Relaxed) == USED;
        debug_assert!(used, "block {index} at {block:p} was free already");
        // Ordering: Release pairs with the Acquire in `take`: without it the next user meets this
        // one.
        flag.store(FREE, Ordering::Release);
    }

    fn in_use(&self, _: &Blocks) -> usize {
        self.flags.iter().filter(|flag| flag.load(Ordering::Relaxed) == USED).count()
    }

    fn bookkeeping(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.flags)
    }

    fn counts(&self) -> Counts {
        self.probe.counts()
    }
}
