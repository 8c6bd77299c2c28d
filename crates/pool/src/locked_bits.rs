//! One bit a block, under a lock.

use crate::words::{BITS, array, full_word, lowest, position};
use crate::{Allocate, Blocks, BuildError, Counts, NoCount, SearchCounter};
use lock_api::{Mutex, RawMutex};
use sateen_base::{CachePadded, RawSpinLock};
use std::ptr::NonNull;

/// A bit for each block, in 64-bit fields under the lock `L`; searched round-robin from the field
/// after the one that was used up last.
///
/// It needs the least bookkeeping, and looks at 64 blocks at once. Each allocation that starts
/// before fields that stay full looks at them again: if they can be many, take
/// [`LockedTree`](crate::LockedTree). With a lock that is not `Sync` the pool is not `Sync` either,
/// and costs no locked instruction.
///
/// Source: the "1bit memory pool" of *MultiCore benchmarks: memory allocation* (2012), there with
/// 32-bit fields.
///
/// # Examples
/// ```
/// use sateen::pool::{BlockPool, LockedBits};
///
/// let pool = BlockPool::<LockedBits>::new(1000, 12, 4)?;
/// let block = pool.take().expect("free");
/// // SAFETY: from this pool, and not used any more.
/// unsafe { pool.give(block) };
/// assert!(pool.bookkeeping() <= 1000 / 8 + 300);
/// # Ok::<(), sateen::pool::BuildError>(())
/// ```
#[derive(Debug)]
pub struct LockedBits<L: RawMutex = RawSpinLock, P = NoCount> {
    state: CachePadded<Mutex<L, State>>,
    probe: P,
}

#[derive(Debug)]
struct State {
    /// A set bit is a free block.
    fields: Box<[u64]>,
    /// The field after the one that was used up last.
    start: usize,
}

impl State {
    /// Takes a free index. Returns it, and how many fields were looked at.
    #[inline]
    fn take(&mut self) -> (Option<usize>, usize) {
        let (at, looked) = match self.fields[self.start] {
            0 => self.search_slow(),
            _ => (self.start, 1),
        };
        let Some(field) = self.fields.get_mut(at) else { return (None, looked) };
        let free = *field;
        *field &= free - 1;
        if *field == 0 {
            self.start = if at + 1 == self.fields.len() { 0 } else { at + 1 };
        }
        (Some(lowest(at, free)), looked)
    }

    /// The first field with a free block (past the end if there is none), and how many fields were
    /// looked at.
    #[cold]
    fn search_slow(&self) -> (usize, usize) {
        let (before, ahead) = self.fields.split_at(self.start);
        let Some(skipped) = ahead.iter().chain(before).position(|field| *field != 0) else {
            return (self.fields.len(), self.fields.len());
        };
        let at = self.start + skipped;
        (at.checked_sub(self.fields.len()).unwrap_or(at), skipped + 1)
    }
}

// SAFETY: bits change under the lock, which also orders the users of a block.
unsafe impl<L: RawMutex, P: SearchCounter> Allocate for LockedBits<L, P> {
    const NAME: &'static str = "locked-bits";

    fn new(blocks: &Blocks) -> Result<Self, BuildError> {
        let capacity = blocks.capacity();
        let fields = array(capacity.div_ceil(BITS), |index| full_word(capacity, index))?;
        let state = State { fields, start: 0 };
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
        let (field, bit) = position(index);
        let mut state = self.state.lock();
        let was = state.fields[field];
        state.fields[field] = was | bit;
        drop(state);
        debug_assert_eq!(was & bit, 0, "block {index} at {block:p} was free already");
    }

    fn in_use(&self, blocks: &Blocks) -> usize {
        let state = self.state.lock();
        let free: usize = state.fields.iter().map(|field| field.count_ones() as usize).sum();
        blocks.capacity() - free
    }

    fn bookkeeping(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.state.lock().fields)
    }

    fn counts(&self) -> Counts {
        self.probe.counts()
    }
}
