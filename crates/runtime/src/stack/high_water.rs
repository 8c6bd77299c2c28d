//! How much of its stack a fiber has ever used, in debug builds only.
//!
//! Fresh memory holds zeros, and a stack is cleared when it is given back. So the lowest word that
//! is not zero tells. (Frames that held nothing but zeros below the last return address are
//! missed.) Pages that were never touched are not even read.

use super::FiberStack;
use sateen_base::os;

/// Bytes used of the `size` that end at `top`. Always 0 under Valgrind, which reports such reads.
///
/// # Safety
/// The bytes are a stack whose memory stays for as long as this takes. The fiber on it may run;
/// then the answer is that of some moment.
pub(crate) unsafe fn high_water(top: usize, size: usize) -> usize {
    const WORD: usize = size_of::<usize>();
    if os::valgrind::is_running() {
        return 0;
    }
    let bottom = top - size;
    let low: *const usize = std::ptr::with_exposed_provenance(bottom);
    // SAFETY: memory of the stack.
    let untouched = unsafe { os::untouched_prefix(low.cast(), size) };
    // SAFETY: within the stack, and aligned as its ends are; volatile, as the fiber may write.
    let used = (untouched / WORD..size / WORD)
        .find(|&index| unsafe { low.wrapping_add(index).read_volatile() } != 0);
    used.map_or(0, |index| size - index * WORD)
}

impl FiberStack {
    /// Bytes ever used since the stack was taken.
    pub(crate) fn high_water(&self) -> usize {
        // SAFETY: this thread owns the page.
        unsafe { high_water(self.boundary.get(), self.size()) }
    }

    /// Writes zeros, for the next user's reading.
    pub(super) fn clear(&self) {
        let used = self.high_water();
        // SAFETY: the caller owns the stack, and nothing runs on it.
        unsafe { self.slots().cast::<u8>().sub(used).write_bytes(0, used) };
    }
}

#[cfg(test)]
mod tests {
    use crate::stack::{DEFAULT_STACK, PooledStacks, StackSize, Stacks};

    #[test]
    fn the_deepest_word_counts_and_the_next_user_begins_anew() {
        let size = StackSize::new(DEFAULT_STACK).expect("a size");
        let stacks = Stacks::new(Box::new(PooledStacks::new()), size, usize::MAX, 0);
        for used in [0, 8, 1000, 100_000] {
            let stack = stacks.take(size).expect("a stack");
            assert_eq!(stack.high_water(), 0);
            if used > 0 {
                // SAFETY: within the stack, which nothing runs on.
                unsafe { stack.slots().cast::<u8>().sub(used).write(1) };
            }
            assert_eq!(stack.high_water(), used);
            stacks.give(stack);
        }
    }
}
