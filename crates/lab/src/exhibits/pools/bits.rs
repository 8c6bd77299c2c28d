//! One bit a block.

use super::locked::Search;
use super::{BITS, array, full_word, lowest, position};
use sateen_pool::BuildError;

/// A bit for each block, in 64-bit fields; searched round-robin from the field after the one that
/// was used up last.
///
/// It needs the least bookkeeping, and looks at 64 blocks at once. Each allocation that starts
/// before fields that stay full looks at them again.
///
/// Source: the "1bit memory pool" of *MultiCore benchmarks: memory allocation* (2012), there with
/// 32-bit fields.
#[derive(Debug)]
pub(crate) struct Bits {
    /// A set bit is a free block.
    fields: Box<[u64]>,
    /// The field after the one that was used up last.
    start: usize,
}

impl Bits {
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

impl Search for Bits {
    const NAME: &'static str = "locked-bits";

    fn new(capacity: usize) -> Result<Self, BuildError> {
        let fields = array(capacity.div_ceil(BITS), |index| full_word(capacity, index))?;
        Ok(Self { fields, start: 0 })
    }

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

    #[inline]
    fn give(&mut self, index: usize) -> bool {
        let (field, bit) = position(index);
        let was = self.fields[field];
        self.fields[field] = was | bit;
        was & bit != 0
    }

    fn in_use(&self, capacity: usize) -> usize {
        let free: usize = self.fields.iter().map(|field| field.count_ones() as usize).sum();
        capacity - free
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.fields)
    }
}
