//! The general allocator as a strategy: the reference.

use sateen_pool::{Allocate, Blocks, BuildError};
use std::alloc::{GlobalAlloc, System};
use std::ptr::NonNull;

/// Each block comes from the allocator `A` and goes back to it. The capacity is ignored, so that
/// only the allocator is measured.
#[derive(Debug, Default)]
pub(crate) struct Global<A = System>(A);

// SAFETY: the contract of allocators gives 1 and 2; the layout is passed on, which gives 3.
unsafe impl<A: GlobalAlloc + Default> Allocate for Global<A> {
    const NAME: &'static str = "global";
    const OWN_MEMORY: bool = false;
    const MOST: usize = usize::MAX;

    fn new(_: &Blocks) -> Result<Self, BuildError> {
        Ok(Self::default())
    }

    #[inline]
    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>> {
        // SAFETY: a pool's blocks have a size.
        NonNull::new(unsafe { self.0.alloc(blocks.layout()) })
    }

    #[inline]
    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>) {
        // SAFETY: passed on; allocated with this layout.
        unsafe { self.0.dealloc(block.as_ptr(), blocks.layout()) };
    }

    fn in_use(&self, _: &Blocks) -> usize {
        0
    }

    fn bookkeeping(&self) -> usize {
        0
    }
}
