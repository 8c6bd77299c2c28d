//! The depot of a pool: a bit for each block, and a mark for each word of bits.

use super::depot::Depot;
use crate::zeroed::{Zero, Zeroed};
use crate::{Blocks, BuildError, SearchCounter};
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicU32, AtomicU64};
use sateen_base::{CachePadded, prefetch_write};
use std::ptr::NonNull;

/// All blocks of a word given out; all words of a group marked.
const ALL: u64 = u64::MAX;
/// Bits of a word: one for each block, or for each word of a group.
const BITS: usize = 64;
/// Groups that a thread looks at before it goes where others have given blocks back: 64 Ki blocks,
/// two cache lines of groups.
const NEIGHBOURS: usize = 16;

// SAFETY: an integer.
unsafe impl Zero for AtomicU64 {
    #[cfg(loom)]
    fn zero() -> Self {
        Self::new(0)
    }
}

/// Which blocks the depot holds. A word is a magazine that needs no memory: 64 neighbours, taken at
/// once.
///
/// | bit of a word | meaning |
/// |---|---|
/// | 0 | the block is free, and here |
/// | 1 | given out, or no block |
///
/// | bit of a group | meaning |
/// |---|---|
/// | 0 | its word may have free blocks |
/// | 1 | its word has none, or the thread that freed the first one is about to clear this |
#[derive(Debug)]
pub(crate) struct Bitmap<P> {
    words: Zeroed<AtomicU64>,
    groups: Zeroed<AtomicU64>,
    /// The group that last got a first block back: threads that find nothing in their own
    /// neighbourhood look there.
    recent: CachePadded<AtomicU32>,
    probe: P,
}

/// The `most` lowest of `bits`.
fn lowest(bits: u64, most: u32) -> u64 {
    let mut rest = bits;
    for _ in 0..most {
        rest &= rest.wrapping_sub(1);
    }
    bits ^ rest
}

impl<P: SearchCounter> Bitmap<P> {
    pub(crate) fn new(blocks: &Blocks) -> Result<Self, BuildError> {
        let capacity = blocks.capacity();
        let words = capacity.div_ceil(BITS);
        let groups = words.div_ceil(BITS);
        let array = |len: usize| {
            Zeroed::<AtomicU64>::new(len).map_err(|_| BuildError::OutOfMemory { bytes: len * 8 })
        };
        let new = Self {
            words: array(words)?,
            groups: array(groups)?,
            recent: CachePadded::new(AtomicU32::new(0)),
            probe: P::default(),
        };
        // Relaxed: no other thread has seen it yet.
        if !capacity.is_multiple_of(BITS) {
            new.words[words - 1].store(ALL << (capacity % BITS), Ordering::Relaxed);
        }
        if !words.is_multiple_of(BITS) {
            new.groups[groups - 1].store(ALL << (words % BITS), Ordering::Relaxed);
        }
        Ok(new)
    }

    /// Bytes of both arrays.
    pub(crate) fn bytes(&self) -> usize {
        (self.words.len() + self.groups.len()) * 8
    }

    /// How many free blocks the bitmap holds.
    pub(crate) fn free(&self) -> usize {
        // Relaxed: exact only while no thread works.
        self.words.iter().map(|word| word.load(Ordering::Relaxed).count_zeros() as usize).sum()
    }

    fn group(&self, word: usize) -> (&AtomicU64, u64) {
        (&self.groups[word / BITS], 1 << (word % BITS))
    }

    /// Takes up to `most` blocks out of a word. Returns their bits.
    fn claim(&self, word: usize, most: u32, retries: &mut u64) -> u64 {
        let bits = &self.words[word];
        loop {
            // Ordering: Relaxed, the exchange decides.
            let seen = bits.load(Ordering::Relaxed);
            if (!seen).count_ones() > most {
                let part = lowest(!seen, most);
                // Ordering: Acquire pairs with the Release in `release`: what the blocks' last
                // users did. Release continues the chain from an emptying exchange to the next
                // `release`, as below.
                let taken =
                    bits.compare_exchange(seen, seen | part, Ordering::AcqRel, Ordering::Relaxed);
                if taken.is_ok() {
                    return part;
                }
                *retries += 1;
                continue;
            }
            let (group, mark) = self.group(word);
            // The mark goes up before the word is emptied: a thread that frees a block into the
            // emptied word takes it down again, after this.
            // Ordering: Relaxed. The exchange below orders it before a release into the emptied
            // word. A thread that finds all marks up looks again in `Caches::reclaim_slow`, with
            // the locks of all threads that move blocks.
            group.fetch_or(mark, Ordering::Relaxed);
            // Ordering: Acquire as above. Release: a thread that frees a block into the emptied
            // word sees the mark.
            let free = !bits.swap(ALL, Ordering::AcqRel);
            if free.count_ones() <= most {
                return free;
            }
            let part = lowest(free, most);
            self.release(word, free ^ part);
            return part;
        }
    }

    /// Blocks of a word come back.
    fn release(&self, word: usize, blocks: u64) {
        // Ordering: Release pairs with the Acquire in `claim`: what was done with the blocks.
        // Acquire pairs with its Release: the mark is up before we take it down.
        let before = self.words[word].fetch_and(!blocks, Ordering::AcqRel);
        debug_assert_eq!(before & blocks, blocks, "blocks given twice");
        if before == ALL {
            let (group, mark) = self.group(word);
            // Ordering: Release pairs with the Acquire in `take`. Its exchange of the word must
            // come after ours. Otherwise the mark that it raises would stay up over a free block.
            if group.fetch_and(!mark, Ordering::Release) == ALL {
                // Ordering: Relaxed, a hint.
                self.recent.store((word / BITS) as u32, Ordering::Relaxed);
            }
        }
    }
}

// SAFETY: the holder of a block clears its bit, and one exchange sets it; README, section
// "Magazine".
unsafe impl<P: SearchCounter> Depot for Bitmap<P> {
    type Of = Blocks;
    type SearchCounter = P;

    fn take(
        &self,
        blocks: &Blocks,
        near: &mut u32,
        most: u32,
        mut put: impl FnMut(NonNull<u8>),
    ) -> u32 {
        let (mut searched, mut retries) = (0, 0);
        let groups = &self.groups[..];
        // Ordering: Acquire pairs with the Release in `release`: the block whose mark came down is
        // there.
        let look = |group: usize| groups[group].load(Ordering::Acquire);
        let first = *near as usize;
        let end = groups.len().min(first + NEIGHBOURS);
        let elsewhere = std::iter::once_with(|| {
            // Ordering: Relaxed, a hint.
            let recent = self.recent.load(Ordering::Relaxed) as usize;
            (recent..groups.len()).chain(0..recent)
        });
        let mut taken = 0;
        for group in (first..end).chain(elsewhere.flatten()) {
            while taken < most {
                searched += 1;
                let marks = look(group);
                if marks == ALL {
                    break;
                }
                let word = group * BITS + marks.trailing_ones() as usize;
                let bits = self.claim(word, most - taken, &mut retries);
                searched += 1;
                taken += bits.count_ones();
                // This goes from the highest on, because the block that is put last is taken first.
                let (mut mirrored, last) = (bits.reverse_bits(), word * BITS + BITS - 1);
                while mirrored != 0 {
                    // SAFETY: made for these blocks; a set bit is one of theirs.
                    let block = unsafe { blocks.block(last - mirrored.trailing_zeros() as usize) };
                    // The blocks will be written one after the other: better to miss the cache for
                    // all at once.
                    prefetch_write(block.as_ptr());
                    put(block);
                    mirrored &= mirrored - 1;
                }
            }
            if taken != 0 {
                *near = group as u32;
                break;
            }
        }
        self.probe.took(searched, retries);
        taken
    }

    unsafe fn give(
        &self,
        blocks: &Blocks,
        near: &mut u32,
        given: impl Iterator<Item = NonNull<u8>>,
    ) {
        let (mut word, mut bits) = (0, 0);
        for block in given {
            let index = blocks.index_of(block);
            if index / BITS != word {
                if bits != 0 {
                    self.release(word, bits);
                    *near = (*near).min((word / BITS) as u32);
                }
                (word, bits) = (index / BITS, 0);
            }
            bits |= 1 << (index % BITS);
        }
        if bits != 0 {
            self.release(word, bits);
            *near = (*near).min((word / BITS) as u32);
        }
    }

    /// 0, 1/2, 1/4, 3/4, 1/8 of all groups, and so on.
    fn start(&self, lane: usize) -> u32 {
        let part = u64::from((lane as u32).reverse_bits());
        ((part * self.groups.len() as u64) >> 32) as u32
    }

    #[inline(always)]
    fn probe(&self) -> &P {
        &self.probe
    }
}
