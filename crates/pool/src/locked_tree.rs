//! A hierarchy of bits, under a lock.

use crate::words::{Levels, lowest, position};
use crate::{Allocate, Blocks, BuildError, Counts, NoCount, SearchCounter};
use lock_api::{Mutex, RawMutex};
use sateen_base::{CachePadded, RawSpinLock};
use std::ptr::NonNull;

/// A hierarchy of 64-bit fields in a flat array, under the lock `L`. A set bit is a free block, or
/// a field below with a free block in or under it. An allocation takes the first free block, so the
/// pool stays compact.
///
/// Whatever is in use, an allocation looks at no more than two fields a level (a million blocks
/// have four levels), and usually at one: it keeps the first leaf with a free block, and climbs the
/// tree only when that is used up. With a lock that is not `Sync` the pool is not `Sync` either,
/// and costs no locked instruction.
///
/// Source: the "hierarchical bitfields" pool of *MultiCore benchmarks: memory allocation* (2012),
/// there with 32-bit fields and a descent from the root each time.
///
/// # Examples
/// ```
/// use sateen::pool::{BlockPool, LockedTree};
///
/// let pool = BlockPool::<LockedTree>::new(1000, 12, 4)?;
/// let first = pool.take().expect("free");
/// let second = pool.take().expect("free");
/// // SAFETY: from this pool, and not used any more.
/// unsafe { pool.give(first) };
/// assert_eq!(pool.take(), Some(first));
/// assert!(first < second);
/// # Ok::<(), sateen::pool::BuildError>(())
/// ```
#[derive(Debug)]
pub struct LockedTree<L: RawMutex = RawSpinLock, P = NoCount> {
    state: CachePadded<Mutex<L, State>>,
    probe: P,
}

/// Invariant, whenever the lock is free: a bit above the leaves is set exactly if its field is not
/// 0.
#[derive(Debug)]
struct State {
    fields: Box<[u64]>,
    /// The first leaf that is not 0; past the end of the array if all are 0.
    first: usize,
    levels: Levels,
}

impl State {
    /// Takes the first free index. Returns it, and how many fields were looked at.
    #[inline]
    fn take(&mut self) -> (Option<usize>, usize) {
        let leaf = self.first;
        let Some(field) = self.fields.get_mut(leaf) else { return (None, 1) };
        let index = lowest(leaf, *field);
        *field &= *field - 1;
        let looked = if *field == 0 { self.next_slow() } else { 1 };
        (Some(index), looked)
    }

    /// The first leaf is used up: clears its bit above, and finds the next leaf. Returns how many
    /// fields were looked at, including that leaf.
    #[cold]
    fn next_slow(&mut self) -> usize {
        let mut entry = std::mem::replace(&mut self.first, usize::MAX);
        let mut looked = 1;
        for level in 1..self.levels.count() {
            looked += 1;
            let (index, bit) = position(entry);
            let field = &mut self.fields[self.levels.at(level, index)];
            *field &= !bit;
            entry = index;
            if *field != 0 {
                // The next free block is below this field: nothing before it is free.
                for level in (1..=level).rev() {
                    looked += 1;
                    entry = lowest(entry, self.fields[self.levels.at(level, entry)]);
                }
                self.first = entry;
                break;
            }
        }
        looked
    }

    /// Frees `index`. Returns whether it was free before.
    #[inline]
    fn give(&mut self, index: usize) -> bool {
        let (leaf, bit) = position(index);
        let was = self.fields[leaf];
        self.fields[leaf] = was | bit;
        if was == 0 {
            self.mark_slow(leaf);
        }
        self.first = self.first.min(leaf);
        was & bit != 0
    }

    /// Leaf `entry` is not 0 any more: sets its bit above.
    #[cold]
    fn mark_slow(&mut self, mut entry: usize) {
        for level in 1..self.levels.count() {
            let (index, bit) = position(entry);
            let field = &mut self.fields[self.levels.at(level, index)];
            let was = std::mem::replace(field, *field | bit);
            if was != 0 {
                return;
            }
            entry = index;
        }
    }
}

// SAFETY: bits change under the lock, which also orders the users of a block.
unsafe impl<L: RawMutex, P: SearchCounter> Allocate for LockedTree<L, P> {
    const NAME: &'static str = "locked-tree";

    fn new(blocks: &Blocks) -> Result<Self, BuildError> {
        let levels = Levels::new(blocks.capacity());
        let state = State { fields: levels.all_free(|field| field)?, first: 0, levels };
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
        let was_free = self.state.lock().give(index);
        debug_assert!(!was_free, "block {index} at {block:p} was free already");
    }

    fn in_use(&self, blocks: &Blocks) -> usize {
        let state = self.state.lock();
        let leaves = &state.fields[..state.levels.words(0)];
        blocks.capacity() - leaves.iter().map(|leaf| leaf.count_ones() as usize).sum::<usize>()
    }

    fn bookkeeping(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.state.lock().fields)
    }

    fn counts(&self) -> Counts {
        self.probe.counts()
    }
}
