//! One word a block.

use super::array;
use super::locked::Search;
use sateen_pool::BuildError;

const FREE: u32 = 0;
const USED: u32 = 1;

/// A 32-bit flag for each block; searched round-robin from the block taken last.
///
/// `LockFreeFlags` with a lock instead of the exchange: there are no retries, but all threads wait
/// for one. It has the same slow cases.
///
/// Source: the "naive memory pool" of *MultiCore benchmarks: memory allocation* (2012).
#[derive(Debug)]
pub(crate) struct Flags {
    flags: Box<[u32]>,
    /// The index taken last.
    last: usize,
}

impl Search for Flags {
    const NAME: &'static str = "locked-flags";

    fn new(capacity: usize) -> Result<Self, BuildError> {
        Ok(Self { flags: array(capacity, |_| FREE)?, last: capacity - 1 })
    }

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

    #[inline]
    fn give(&mut self, index: usize) -> bool {
        std::mem::replace(&mut self.flags[index], FREE) == FREE
    }

    fn in_use(&self, _: usize) -> usize {
        self.flags.iter().filter(|flag| **flag == USED).count()
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.flags)
    }
}
