//! Blocks of several sizes without a limit.

use super::HeapMagazine;
use std::alloc::{Layout, alloc, dealloc};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// Blocks of several sizes from the global allocator, kept by the thread that frees them.
///
/// It keeps blocks of `SIZES` sizes, the multiples of `STEP` bytes, all aligned to `ALIGN`. Larger
/// or more aligned blocks come from the global allocator and go back to it.
///
/// A thread keeps up to 122 free blocks of each size, all threads together 4,096 more; the rest
/// goes back to the allocator.
///
/// # Examples
/// ```
/// use sateen::pool::HeapSizes;
/// use std::alloc::Layout;
/// static NODES: HeapSizes<4, 64, 16> = HeapSizes::new();
///
/// for layout in [Layout::new::<[u64; 3]>(), Layout::new::<[u64; 300]>()] {
///     let node = NODES.take(layout).expect("memory");
///     // SAFETY: taken for this layout, given back once.
///     unsafe { NODES.give(node, layout) };
/// }
/// ```
#[derive(Debug)]
pub struct HeapSizes<const SIZES: usize, const STEP: usize, const ALIGN: usize> {
    sizes: [HeapMagazine; SIZES],
}

impl<const SIZES: usize, const STEP: usize, const ALIGN: usize> HeapSizes<SIZES, STEP, ALIGN> {
    /// Without any block.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        let mut sizes = [const { MaybeUninit::uninit() }; SIZES];
        let mut size = 0;
        while size < SIZES {
            let Ok(layout) = Layout::from_size_align((size + 1) * STEP, ALIGN) else {
                panic!("an alignment must be a power of two");
            };
            sizes[size] = MaybeUninit::new(HeapMagazine::of(layout));
            size += 1;
        }
        // SAFETY: all elements are written, and an array of `MaybeUninit` has the layout of one of
        // values.
        Self { sizes: unsafe { (&raw const sizes).cast::<[HeapMagazine; SIZES]>().read() } }
    }

    /// Where blocks of a layout are kept, if any are.
    #[inline(always)]
    fn of(&self, layout: Layout) -> Option<&HeapMagazine> {
        let size = layout.size().saturating_sub(1) / STEP;
        if layout.align() <= ALIGN { self.sizes.get(size) } else { None }
    }

    /// Takes a block of this layout, whose size is not 0; `None` if the allocator has no more.
    ///
    /// # Panics
    /// If the layout is empty and aligned to more than `ALIGN`.
    #[inline(always)]
    pub fn take(&self, layout: Layout) -> Option<NonNull<u8>> {
        match self.of(layout) {
            Some(kept) => kept.take(),
            None => {
                assert!(layout.size() > 0, "an empty block aligned to {}", layout.align());
                // SAFETY: not empty.
                NonNull::new(unsafe { alloc(layout) })
            }
        }
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// [`take`](Self::take) returned it for this layout, and no code uses it any more.
    #[inline(always)]
    pub unsafe fn give(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: as `take` took it.
        unsafe {
            match self.of(layout) {
                Some(kept) => kept.give(block),
                None => dealloc(block.as_ptr(), layout),
            }
        }
    }
}
