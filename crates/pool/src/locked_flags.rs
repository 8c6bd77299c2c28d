//! One word a block, under a lock.

use crate::words::array;
use crate::{Allocate, Blocks, BuildError, Counts, NoCount, SearchCounter};
use lock_api::{Mutex, RawMutex};
use sateen_base::{CachePadded, RawSpinLock};
use std::ptr::NonNull;

const FREE: u32 = 0;
const USED: u32 = 1;

/// A 32-bit flag for each block, under the lock `L`; searched round-robin from the block taken
/// last.
///
/// [`LockFreeFlags`](crate::LockFreeFlags) with a lock instead of the exchange: there are no
/// retries, but all threads wait for one. It has the same slow cases. With a lock that is not
/// `Sync` the pool is not `Sync` either, and costs no locked instruction.
///
/// Source: the "naive memory pool" of *MultiCore benchmarks: memory allocation* (2012).
///
/// # Examples
/// ```
/// use sateen::pool::{BlockPool, LockedFlags};
///
/// let pool = BlockPool::<LockedFlags>::new(2, 12, 4)?;
/// let block = pool.take().expect("free");
/// // SAFETY: from this pool, and not used any more.
/// unsafe { pool.give(block) };
/// // Round-robin: the next block comes first.
/// assert_ne!(pool.take(), Some(block));
/// # Ok::<(), sateen::pool::BuildError>(())
/// ```
#[derive(Debug)]
pub struct LockedFlags<L: RawMutex = RawSpinLock, P = NoCount> {
    state: CachePadded<Mutex<L, State>>,
    probe: P,
}

#[derive(Debug)]
struct State {
    flags: Box<[u32]>,
    /// The index taken last.
    last: usize,
}

impl State {
    /// Takes the next free index. Returns it, and how many flags were looked at.
    #[inline]
    fn take(&mut self) -> (Option<usize>, usize) {
        for looked in 1..=self.flags.len() {
            let next = self.last + 1;
            self.last = if next == self.flags.len() { 0 } else { next };
            let flag = &mut self.flags[self.last];
            if *flag == FREE {
                *flag = USED;
                return (Some(self.last), looked);
            }
        }
        (None, self.flags.len())
    }
}

// SAFETY: flags change under the lock, which also orders the users of a block.
unsafe impl<L: RawMutex, P: SearchCounter> Allocate for LockedFlags<L, P> {
    const NAME: &'static str = "locked-flags";

    fn new(blocks: &Blocks) -> Result<Self, BuildError> {
        let capacity = blocks.capacity();
        let state = State { flags: array(capacity, |_| FREE)?, last: capacity - 1 };
        Ok(Self { state: CachePadded::new(Mutex::new(state)), probe: P::default() })
    }

    #[inline]
    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>> {
        let (index, looked) = self.state.lock().take();
        self.probe.took(looked as u64, 0);
        // SAFETY: made for as many blocks, and each index is one of a block.
        index.map(|index| unsafe { blocks.block(index) })
    }

    #[inline]
    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>) {
        let index = blocks.index_of(block);
        let was = std::mem::replace(&mut self.state.lock().flags[index], FREE);
        debug_assert_eq!(was, USED, "block {index} at {block:p} was free already");
    }

    fn in_use(&self, _: &Blocks) -> usize {
        self.state.lock().flags.iter().filter(|flag| **flag == USED).count()
    }

    fn bookkeeping(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.state.lock().flags)
    }

    fn counts(&self) -> Counts {
        self.probe.counts()
    }
}
