//! A hierarchy of bits.

use super::locked::Search;
use super::{BITS, array, full_word, lowest, position};
use sateen_pool::BuildError;

/// Enough for 2^32 blocks.
const MOST_LEVELS: usize = 6;

/// A hierarchy of 64-bit fields in a flat array. A set bit is a free block, or a field below with a
/// free block in or under it. An allocation takes the first free block, so the pool stays compact.
///
/// Whatever is in use, an allocation looks at no more than two fields a level (a million blocks
/// have four levels), and usually at one: it keeps the first leaf with a free block, and climbs the
/// tree only when that is used up.
///
/// 1. An allocation from the kept leaf can only make it 0. The allocation then clears its bit
///    upwards until a word stays different from 0. Below that word the first bits lead down to the
///    next leaf. Everything before is 0, since the old leaf was the first.
/// 2. A block that is freed in front of the kept leaf makes its own leaf the first.
///
/// Source: the "hierarchical bitfields" pool of *MultiCore benchmarks: memory allocation* (2012),
/// there with 32-bit fields and a descent from the root each time.
///
/// Invariant, between two calls: a bit above the leaves is set exactly if its field is not
/// 0.
#[derive(Debug)]
pub(crate) struct Tree {
    fields: Box<[u64]>,
    /// The first leaf that is not 0; past the end of the array if all are 0.
    first: usize,
    levels: Levels,
}

impl Tree {
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

impl Search for Tree {
    const NAME: &'static str = "locked-tree";

    fn new(capacity: usize) -> Result<Self, BuildError> {
        let levels = Levels::new(capacity);
        Ok(Self { fields: levels.all_free()?, first: 0, levels })
    }

    #[inline]
    fn take(&mut self) -> (Option<usize>, usize) {
        let leaf = self.first;
        let Some(field) = self.fields.get_mut(leaf) else { return (None, 1) };
        let index = lowest(leaf, *field);
        *field &= *field - 1;
        let looked = if *field == 0 { self.next_slow() } else { 1 };
        (Some(index), looked)
    }

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

    fn in_use(&self, capacity: usize) -> usize {
        let leaves = &self.fields[..self.levels.words(0)];
        capacity - leaves.iter().map(|leaf| leaf.count_ones() as usize).sum::<usize>()
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.fields)
    }
}

/// A hierarchy of bits in a flat array of words. Level 0, the leaves, comes first and has a bit for
/// each block. Level 1 has a bit for each word of level 0, and so on. The root is a single word.
#[derive(Debug)]
struct Levels {
    /// Where each level begins, and after the last one the number of words.
    begin: [usize; MOST_LEVELS + 1],
    count: usize,
    capacity: usize,
}

impl Levels {
    /// Levels over `capacity` blocks, at least one.
    fn new(capacity: usize) -> Self {
        let mut levels = Self { begin: [0; MOST_LEVELS + 1], count: 0, capacity };
        let mut entries = capacity;
        loop {
            let words = entries.div_ceil(BITS);
            let next = levels.begin[levels.count] + words;
            levels.count += 1;
            levels.begin[levels.count] = next;
            if words == 1 {
                return levels;
            }
            entries = words;
        }
    }

    /// The number of levels.
    #[inline(always)]
    fn count(&self) -> usize {
        self.count
    }

    /// Words of `level`.
    #[inline(always)]
    fn words(&self, level: usize) -> usize {
        self.begin[level + 1] - self.begin[level]
    }

    /// Where word `index` of `level` lies in the array.
    #[inline(always)]
    fn at(&self, level: usize, index: usize) -> usize {
        self.begin[level] + index
    }

    /// The array for blocks that are all free: every bit is set that stands for a block or a word.
    fn all_free(&self) -> Result<Box<[u64]>, BuildError> {
        let mut level = 0;
        array(self.begin[self.count], |at| {
            level += usize::from(at == self.begin[level + 1]);
            let entries = if level == 0 { self.capacity } else { self.words(level - 1) };
            full_word(entries, at - self.begin[level])
        })
    }
}
