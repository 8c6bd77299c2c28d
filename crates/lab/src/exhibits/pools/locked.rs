//! Searches under a lock.

use lock_api::{Mutex, RawMutex};
use sateen_base::CachePadded;
use sateen_pool::{Allocate, Blocks, BuildError, Counts, SearchCounter};
use std::ptr::NonNull;

/// Which blocks are free.
pub(super) trait Search: Sized {
    const NAME: &'static str;

    /// All of `capacity` blocks are free.
    fn new(capacity: usize) -> Result<Self, BuildError>;
    /// Takes a free index below the capacity, and none twice. Returns it, and how many words were
    /// looked at.
    fn take(&mut self) -> (Option<usize>, usize);
    /// Frees `index`. Returns whether it was free before.
    fn give(&mut self, index: usize) -> bool;
    /// How many of `capacity` blocks are in use.
    fn in_use(&self, capacity: usize) -> usize;
    /// The bytes of its words.
    fn bytes(&self) -> usize;
}

/// The search `S` under the lock `L`. With a lock that is not `Sync` the pool is not `Sync` either,
/// and costs no locked instruction.
#[derive(Debug)]
pub(crate) struct Locked<S, L: RawMutex, P> {
    search: CachePadded<Mutex<L, S>>,
    probe: P,
}

// SAFETY: the search changes under the lock, which also orders the users of a block.
unsafe impl<S: Search, L: RawMutex, P: SearchCounter> Allocate for Locked<S, L, P> {
    const NAME: &'static str = S::NAME;

    fn new(blocks: &Blocks) -> Result<Self, BuildError> {
        let search = CachePadded::new(Mutex::new(S::new(blocks.capacity())?));
        Ok(Self { search, probe: P::default() })
    }

    #[inline]
    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>> {
        let (index, looked) = self.search.lock().take();
        self.probe.took(looked as u64, 0);
        // SAFETY: made for as many blocks, and each index is one of a block.
        index.map(|index| unsafe { blocks.block(index) })
    }

    #[inline]
    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>) {
        let index = blocks.index_of(block);
        let was_free = self.search.lock().give(index);
        debug_assert!(!was_free, "block {index} at {block:p} was free already");
    }

    fn in_use(&self, blocks: &Blocks) -> usize {
        self.search.lock().in_use(blocks.capacity())
    }

    fn bookkeeping(&self) -> usize {
        size_of::<Self>() + self.search.lock().bytes()
    }

    fn counts(&self) -> Counts {
        self.probe.counts()
    }
}
