//! Words of bits over blocks, and levels of them: where they lie in one flat array.

use crate::BuildError;

/// Used bits of a word. Two in models, so that few blocks make several levels.
pub(crate) const BITS: usize = if cfg!(loom) { 2 } else { u64::BITS as usize };
/// Enough for 2^32 blocks.
const MOST_LEVELS: usize = 6;

/// `len` values, or an error if there is no memory for them.
pub(crate) fn array<T>(len: usize, value: impl FnMut(usize) -> T) -> Result<Box<[T]>, BuildError> {
    let mut array = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>());
    array.try_reserve_exact(len).map_err(|_| BuildError::OutOfMemory { bytes })?;
    array.extend((0..len).map(value));
    Ok(array.into_boxed_slice())
}

/// Word `index` of a row in which the first `entries` bits are set.
pub(crate) fn full_word(entries: usize, index: usize) -> u64 {
    match entries - index * BITS {
        rest if rest < BITS => (1 << rest) - 1,
        _ => u64::MAX >> (u64::BITS as usize - BITS),
    }
}

/// The word that bit `entry` of a row lies in, and the bit there.
#[inline(always)]
pub(crate) fn position(entry: usize) -> (usize, u64) {
    (entry / BITS, 1 << (entry % BITS))
}

/// The lowest bit set in `word`, as an entry of its row, where it is word `index`.
#[inline(always)]
pub(crate) fn lowest(index: usize, word: u64) -> usize {
    index * BITS + word.trailing_zeros() as usize
}

/// A hierarchy of bits in a flat array of words. Level 0, the leaves, comes first and has a bit for
/// each block. Level 1 has a bit for each word of level 0, and so on. The root is a single word.
#[derive(Debug)]
pub(crate) struct Levels {
    /// Where each level begins, and after the last one the number of words.
    begin: [usize; MOST_LEVELS + 1],
    count: usize,
    capacity: usize,
}

impl Levels {
    /// Levels over `capacity` blocks, at least one.
    pub(crate) fn new(capacity: usize) -> Self {
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
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Words of `level`.
    #[inline(always)]
    pub(crate) fn words(&self, level: usize) -> usize {
        self.begin[level + 1] - self.begin[level]
    }

    /// Where word `index` of `level` lies in the array.
    #[inline(always)]
    pub(crate) fn at(&self, level: usize, index: usize) -> usize {
        self.begin[level] + index
    }

    /// The array for blocks that are all free: every bit is set that stands for a block or a word.
    pub(crate) fn all_free<T>(&self, word: impl Fn(u64) -> T) -> Result<Box<[T]>, BuildError> {
        let mut level = 0;
        array(self.begin[self.count], |at| {
            level += usize::from(at == self.begin[level + 1]);
            let entries = if level == 0 { self.capacity } else { self.words(level - 1) };
            word(full_word(entries, at - self.begin[level]))
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn levels_end_in_one_word_and_have_no_bits_beyond_the_end() {
        for (capacity, words) in [
            (1, vec![1]),
            (64, vec![1]),
            (65, vec![2, 1]),
            (4096, vec![64, 1]),
            (4097, vec![65, 2, 1]),
            (1_000_000, vec![15_625, 245, 4, 1]),
        ] {
            let levels = Levels::new(capacity);
            let found: Vec<usize> = (0..levels.count()).map(|l| levels.words(l)).collect();
            assert_eq!(found, words);
            let array = levels.all_free(|w| w).expect("memory");
            let mut entries = capacity;
            for level in 0..levels.count() {
                let row = &array[levels.at(level, 0)..][..levels.words(level)];
                let set: u32 = row.iter().map(|w| w.count_ones()).sum();
                assert_eq!(set as usize, entries, "level {level} of {capacity}");
                entries = row.len();
            }
        }
        assert_eq!(Levels::new(u32::MAX as usize).count(), 6);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where its memory does")]
    fn what_cannot_be_had_is_an_error() {
        for len in [
            usize::MAX / 8,
            // 32 bits address half of this, and a machine may have as much.
            #[cfg(target_pointer_width = "64")]
            (usize::MAX / 16),
        ] {
            let asked = array(len, |_| 0u64);
            assert!(matches!(asked, Err(BuildError::OutOfMemory { .. })));
        }
    }
}
