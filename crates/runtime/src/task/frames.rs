//! Memory for task frames. The thread that frees a frame keeps it for the next task that it spawns.
//!
//! Frames come in a few sizes, each with caches for all threads of the process. Any thread may free
//! a frame, and a handle may keep one beyond the end of its runtime.

use sateen_pool::HeapSizes;
use std::alloc::{Layout, handle_alloc_error};
use std::ptr::NonNull;

/// Up to 512 bytes, aligned as allocators do without extra work.
static KEPT: HeapSizes<8, 64, 16> = HeapSizes::new();

/// Memory for a frame of this layout.
#[inline(always)]
pub(super) fn take(layout: Layout) -> NonNull<u8> {
    KEPT.take(layout).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Takes back memory that [`take`] gave for this layout.
///
/// # Safety
/// No code uses it any more.
#[inline(always)]
pub(super) unsafe fn give(frame: NonNull<u8>, layout: Layout) {
    // SAFETY: as `take` took it.
    unsafe { KEPT.give(frame, layout) };
}
