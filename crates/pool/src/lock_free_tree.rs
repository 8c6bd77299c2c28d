//! The hierarchy of bits without a lock.
//!
//! Protocol and proof sketch: section "`LockFreeTree`" of the crate's `README.md`.
//!
//! | bit | set | clear |
//! |---|---|---|
//! | of a leaf | free: the thread that clears it has the block | in use: only the user sets it |
//! | above | the word below may have a bit set | it has none, or a thread will set this |
//!
//! | `clears` | meaning |
//! |---|---|
//! | low 24 bits | clearings of bits above the leaves that are under way |
//! | the others | clearings that have begun, modulo 2^40 |
//!
//! If `clears` is the same twice, with none under way, no clearing took place in between.
//!
//! 1. The low field does not run over: each thread has one clearing under way at most, and no
//!    system has 2^24 threads.
//! 2. The high field loses a carry only at the end of the word. The caller's own clearings are
//!    added to its first reading in the same arithmetic, so the comparison is exact modulo 2^40.
//! 3. So it errs after exactly 2^40 clearings by others, or a multiple, within one search. Each is
//!    three exchanges of shared words, so that takes hours, and a search looks at each leaf three
//!    times at most. Even then no block gets two users: the search may miss a free one.
//!
//! The first table says which thread writes `words`. Threads that clear above the leaves write
//! `clears`. `starts` are hints.

use crate::words::{BITS, Levels, array, lowest, position};
use crate::{Allocate, Blocks, BuildError, Counts, NoCount, SearchCounter};
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicU32, AtomicU64};
use sateen_base::{CachePadded, thread_number};
use std::ptr::NonNull;

/// How many threads have a start of their own. More threads share these.
const STARTS: usize = 64;
/// Fields and steps of `clears`.
const UNDER_WAY: u64 = (1 << 24) - 1;
const BEGIN: u64 = UNDER_WAY + 1 + 1;
const END: u64 = 1;

/// A hierarchy of 64-bit words in a flat array, without a lock. A set bit is a free block, or a
/// word below that may have one.
///
/// A thread that never met another takes the first free block, so the pool stays compact. A thread
/// that lost a race for a block goes on from another leaf, so threads spread over the pool.
///
/// `None` means that each block was in use at some moment of the call, or still being given back. A
/// block that was given back before the call, and that no other thread takes during it, is found.
///
/// # Cost
/// Usually one locked instruction to take, on a word that only this thread uses, and one to give.
/// Whatever is in use, a search looks at a few words a level, and once at each leaf that was used
/// up since the last search. It looks at all leaves only if it finds nothing while other threads
/// change the upper levels.
///
/// # Examples
/// ```
/// use sateen::pool::{BlockPool, LockFreeTree};
///
/// let pool = BlockPool::<LockFreeTree>::new(1000, 12, 4)?;
/// let first = pool.take().expect("free");
/// let second = pool.take().expect("free");
/// // SAFETY: from this pool, and not used any more.
/// unsafe { pool.give(first) };
/// assert_eq!(pool.take(), Some(first));
/// assert!(first < second);
/// # Ok::<(), sateen::pool::BuildError>(())
/// ```
#[derive(Debug)]
pub struct LockFreeTree<P = NoCount> {
    words: Box<[AtomicU64]>,
    levels: Levels,
    /// The leaf at which each thread starts to search: as far as the thread knows, no block before
    /// it is free.
    starts: Box<[CachePadded<AtomicU32>]>,
    clears: CachePadded<AtomicU64>,
    probe: P,
}

/// What a search cost so far.
#[derive(Default)]
struct Cost {
    words: u64,
    retries: u64,
    /// Bits above the leaves that this search has cleared.
    cleared: u64,
}

impl<P: SearchCounter> LockFreeTree<P> {
    #[inline(always)]
    fn start(&self) -> &AtomicU32 {
        // A thread without a number shares a start.
        let number = thread_number::get_or_assign().unwrap_or(0) as usize;
        &self.starts[number & (self.starts.len() - 1)]
    }

    #[inline(always)]
    fn word(&self, level: usize, index: usize) -> &AtomicU64 {
        &self.words[self.levels.at(level, index)]
    }

    /// Takes the first block of `leaf` that is free.
    #[inline(always)]
    fn claim(&self, leaf: usize, cost: &mut Cost) -> Option<usize> {
        let word = &self.words[leaf];
        let mut free = word.load(Ordering::Relaxed);
        cost.words += 1;
        while free != 0 {
            let index = lowest(leaf, free);
            let (_, bit) = position(index);
            // Ordering: Acquire pairs with the Release in `give`: the last user's accesses come
            // first.
            if word.fetch_and(!bit, Ordering::Acquire) & bit != 0 {
                return Some(index);
            }
            cost.retries += 1;
            free &= !bit;
        }
        None
    }

    /// Searches further unless a block was `found` at the thread's leaf `from`, and sets where to
    /// start next time.
    #[cold]
    fn take_slow(
        &self,
        from: usize,
        mut found: Option<usize>,
        start: &AtomicU32,
        cost: &mut Cost,
    ) -> Option<usize> {
        if found.is_none() {
            found = self.search_everywhere(from, cost);
        }
        let leaf = position(found?).0;
        let next = if cost.retries == 0 { leaf } else { self.elsewhere(leaf) };
        start.store(next as u32, Ordering::Relaxed);
        found
    }

    /// Takes the first free block after leaf `from`, which was seen empty. If there is none,
    /// searches again from the beginning.
    fn search_everywhere(&self, from: usize, cost: &mut Cost) -> Option<usize> {
        // Ordering: Acquire pairs with the Release in `clear`: we see the bits that ended clearings
        // have set again.
        let before = self.clears.load(Ordering::Acquire);
        cost.cleared = 0;
        self.clear(0, from, cost);
        let found = self.search(from + 1, cost).or_else(|| self.search(0, cost));
        // The loads of the search acquire: each clearing that it saw has begun before this.
        let quiet = before & UNDER_WAY == 0;
        let own = before.wrapping_add(cost.cleared.wrapping_mul(BEGIN - END));
        if found.is_some() || quiet && self.clears.load(Ordering::Relaxed) == own {
            return found;
        }
        (0..self.levels.words(0)).find_map(|leaf| self.claim(leaf, cost))
    }

    /// A leaf to start from for a thread that met others at `leaf`.
    #[cold]
    fn elsewhere(&self, leaf: usize) -> usize {
        let number = thread_number::get();
        let mixed = (leaf as u64 ^ u64::from(number) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let leaves = self.levels.words(0) as u64;
        (((mixed >> 32) * leaves) >> 32) as usize
    }

    /// Takes the first free block from leaf `from` on, by the levels above.
    fn search(&self, mut from: usize, cost: &mut Cost) -> Option<usize> {
        loop {
            let leaf = self.next(from, cost)?;
            let found = self.claim(leaf, cost);
            if found.is_some() {
                return found;
            }
            self.clear(0, leaf, cost);
            from = leaf + 1;
        }
    }

    /// The first leaf from `entry` on that may have a free block. Clears wrong bits on the way.
    fn next(&self, mut entry: usize, cost: &mut Cost) -> Option<usize> {
        let mut level = 1;
        while level < self.levels.count() && entry < self.levels.words(level - 1) {
            let (index, bit) = position(entry);
            cost.words += 1;
            // Ordering: Acquire pairs with the Release in `clear`: see `search_everywhere`.
            let word = self.word(level, index).load(Ordering::Acquire);
            let ahead = word & !(bit - 1);
            if ahead == 0 {
                if word == 0 {
                    self.clear(level, index, cost);
                }
                entry = index + 1;
                level += 1;
                continue;
            }
            entry = lowest(index, ahead);
            level -= 1;
            if level == 0 {
                return Some(entry);
            }
            entry *= BITS;
        }
        None
    }

    /// Word `index` of `level` was seen empty: clears its bit above, if that is set.
    fn clear(&self, level: usize, index: usize, cost: &mut Cost) {
        if level + 1 == self.levels.count() {
            return;
        }
        let (above, bit) = position(index);
        let above = self.word(level + 1, above);
        if above.load(Ordering::Relaxed) & bit == 0 {
            return;
        }
        cost.cleared += 1;
        self.clears.fetch_add(BEGIN, Ordering::Relaxed);
        // Ordering: Release carries the beginning to threads that see the bit clear. Acquire
        // carries what they have cleared below, whose end must come before ours.
        above.fetch_and(!bit, Ordering::AcqRel);
        // Ordering: an exchange, not a load. If it comes after a giver's setting of a bit, it sees
        // the bit. If it comes before, the giver acquires our clearing, and sees that.
        let now = self.word(level, index).fetch_or(0, Ordering::AcqRel);
        if now != 0 {
            self.mark(level, index);
        }
        // Ordering: Release pairs with the Acquire in `search_everywhere`: a thread that sees the
        // end sees what we have set.
        self.clears.fetch_sub(END, Ordering::Release);
    }

    /// Word `index` of `level` has a bit set: sets its bits on all levels above. The thread that
    /// set the first bit may not have come so far.
    #[inline(always)]
    fn mark(&self, level: usize, mut index: usize) {
        for level in level + 1..self.levels.count() {
            let (above, bit) = position(index);
            let word = self.word(level, above);
            // Ordering: Acquire pairs with the Release of the thread that set the bit: we see bits
            // above clear that were cleared before that.
            if word.load(Ordering::Acquire) & bit == 0 {
                // Ordering: AcqRel, for the bits above, as in `give` for this one.
                word.fetch_or(bit, Ordering::AcqRel);
            }
            index = above;
        }
    }

    /// For models: where all threads search next.
    #[cfg(loom)]
    pub fn start_at(&self, leaf: u32) {
        self.starts.iter().for_each(|start| start.store(leaf, Ordering::Relaxed));
    }

    /// For models: whether block `index` is free.
    #[cfg(loom)]
    pub fn is_free(&self, index: usize) -> bool {
        let (leaf, bit) = position(index);
        self.words[leaf].load(Ordering::Relaxed) & bit != 0
    }

    /// Whether every word with a bit set has its bit above set. This holds while no thread takes or
    /// gives.
    #[doc(hidden)]
    pub fn is_complete(&self) -> bool {
        (1..self.levels.count()).all(|level| {
            (0..self.levels.words(level - 1)).all(|index| {
                let (above, bit) = position(index);
                self.word(level - 1, index).load(Ordering::Relaxed) == 0
                    || self.word(level, above).load(Ordering::Relaxed) & bit != 0
            })
        })
    }
}

// SAFETY: 1: one caller clears a leaf's bit and gets the block. 2: setting the bit is a release
// that the next clearing acquires. 3: indices are those of `blocks`.
unsafe impl<P: SearchCounter> Allocate for LockFreeTree<P> {
    const NAME: &'static str = "lock-free-tree";

    fn new(blocks: &Blocks) -> Result<Self, BuildError> {
        let levels = Levels::new(blocks.capacity());
        let starts = levels.words(0).next_power_of_two().min(STARTS);
        Ok(Self {
            words: levels.all_free(AtomicU64::new)?,
            levels,
            starts: array(starts, |_| CachePadded::new(AtomicU32::new(0)))?,
            clears: CachePadded::new(AtomicU64::new(0)),
            probe: P::default(),
        })
    }

    #[inline]
    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>> {
        let start = self.start();
        let leaf = start.load(Ordering::Relaxed) as usize;
        let mut cost = Cost::default();
        let mut found = self.claim(leaf, &mut cost);
        if found.is_none() || cost.retries > 0 {
            found = self.take_slow(leaf, found, start, &mut cost);
        }
        self.probe.took(cost.words, cost.retries);
        // SAFETY: made for as many blocks, and each index is one of a block.
        found.map(|index| unsafe { blocks.block(index) })
    }

    #[inline]
    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>) {
        let index = blocks.index_of(block);
        let (leaf, bit) = position(index);
        // Ordering: Release pairs with the Acquire in `claim`: the next user comes after this one.
        // Acquire pairs with the exchange in `clear`: we see a bit above clear that was cleared
        // because this leaf was empty.
        let was = self.words[leaf].fetch_or(bit, Ordering::AcqRel);
        debug_assert_eq!(was & bit, 0, "block {index} at {block:p} was free already");
        self.mark(0, leaf);
        let start = self.start();
        if (leaf as u32) < start.load(Ordering::Relaxed) {
            start.store(leaf as u32, Ordering::Relaxed);
        }
    }

    fn in_use(&self, blocks: &Blocks) -> usize {
        let leaves = &self.words[..self.levels.words(0)];
        let free = |leaf: &AtomicU64| leaf.load(Ordering::Relaxed).count_ones() as usize;
        blocks.capacity() - leaves.iter().map(free).sum::<usize>()
    }

    fn bookkeeping(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.words) + size_of_val(&*self.starts)
    }

    fn counts(&self) -> Counts {
        self.probe.counts()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const BLOCKS: usize = 3 * BITS;

    fn tree(clears: u64) -> (LockFreeTree, Blocks) {
        let blocks = Blocks::new(BLOCKS, 8, 8, 8, true).expect("a few blocks");
        let tree = LockFreeTree::new(&blocks).expect("a few words");
        tree.clears.store(clears, Ordering::Relaxed);
        (tree, blocks)
    }

    #[test]
    fn the_count_of_clearings_wraps_beside_those_under_way() {
        // Each search for what is not there clears a bit above a leaf, and then the root's.
        for before in 0..4u64 {
            let (tree, blocks) = tree(u64::MAX - UNDER_WAY - (before << 24));
            // SAFETY: the strategy is used with its own blocks, here and below.
            let all: Vec<_> = (0..BLOCKS).filter_map(|_| unsafe { tree.take(&blocks) }).collect();
            assert_eq!(all.len(), BLOCKS);
            for block in all.into_iter().rev() {
                // SAFETY: as above; none is free, and each is given back once.
                unsafe {
                    assert_eq!(tree.take(&blocks), None);
                    tree.give(&blocks, block);
                    assert_eq!(tree.take(&blocks), Some(block));
                }
            }
            let clears = tree.clears.load(Ordering::Relaxed);
            assert_eq!(clears & UNDER_WAY, 0);
            assert!(clears < 1 << 40, "it has wrapped: {clears:x}");
        }
    }

    #[test]
    fn a_clearing_that_is_under_way_at_the_wrap_is_seen() {
        let (tree, blocks) = tree(u64::MAX - UNDER_WAY);
        let mut cost = Cost::default();
        // Another thread has begun to clear the first leaf's bit, and has not ended.
        tree.clears.fetch_add(BEGIN, Ordering::Relaxed);
        assert_eq!(tree.clears.load(Ordering::Relaxed), 1);
        tree.word(1, 0).fetch_and(!1, Ordering::Relaxed);
        for leaf in 1..3 {
            tree.words[leaf].store(0, Ordering::Relaxed);
        }
        // The levels above lead nowhere, so only a look at all leaves finds it.
        let found = tree.search_everywhere(1, &mut cost);
        assert_eq!(found, Some(0));
        drop(blocks);
    }
}
