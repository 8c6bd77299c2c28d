//! The high-water mark of a fiber's stack, in debug builds only.
//!
//! Fresh memory holds zeros, and a stack is cleared when it is returned. So the mark is the lowest
//! non-zero word. (Frames below the last return address that hold only zeros are missed.) Untouched
//! pages are not even read.

use super::FiberStack;
use sateen_base::os;

/// Bytes used of the `size` bytes below `top`. Always 0 under Valgrind, which reports such reads.
///
/// # Safety
/// The bytes are a stack whose memory stays valid meanwhile. The fiber on it may run; then the
/// result holds for some moment.
pub(crate) unsafe fn high_water(top: usize, size: usize) -> usize {
    const WORD: usize = size_of::<usize>();
    if os::valgrind::is_running() {
        return 0;
    }
    let bottom = top - size;
    let low: *const usize = std::ptr::with_exposed_provenance(bottom);
    // SAFETY: memory of the stack.
    let untouched = unsafe { os::untouched_prefix(low.cast(), size) };
    // SAFETY: within the stack, whose ends are aligned; volatile, because the fiber may write.
    let used = (untouched / WORD..size / WORD)
        .find(|&index| unsafe { low.wrapping_add(index).read_volatile() } != 0);
    used.map_or(0, |index| size - index * WORD)
}

impl FiberStack {
    /// Bytes used since the stack was taken.
    pub(crate) fn high_water(&self) -> usize {
        // SAFETY: this thread owns the page.
        unsafe { high_water(self.boundary.get(), self.size()) }
    }

    /// Clears the stack for the next user's mark.
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
