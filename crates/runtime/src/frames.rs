//! Memory for task frames and scope jobs. A thread that frees a frame reuses it for the next one it
//! creates.
//!
//! Frames come in a few size classes, each with caches for all threads of the process. Any thread
//! may free a frame, and a handle may keep one beyond the end of its runtime.

use sateen_pool::HeapSizes;
use std::alloc::{Layout, handle_alloc_error};
use std::ptr::NonNull;

/// Up to 512 bytes, with the alignment that allocators guarantee without extra work.
static KEPT: HeapSizes<8, 64, 16> = HeapSizes::new();

/// Moves `frame` into memory of its own, until the caller [gives](give) the memory back.
#[inline(always)]
pub(crate) fn place<T>(frame: T) -> NonNull<T> {
    let layout = Layout::new::<T>();
    let place = KEPT.take(layout).unwrap_or_else(|| handle_alloc_error(layout)).cast::<T>();
    // SAFETY: fresh memory of this layout.
    unsafe { place.write(frame) };
    place
}

/// Takes back the memory of a frame without dropping its contents.
///
/// # Safety
/// [`place`] returned it, and nothing uses it any more.
#[inline(always)]
pub(crate) unsafe fn give<T>(place: NonNull<T>) {
    // SAFETY: as `place` took it.
    unsafe { KEPT.give(place.cast(), Layout::new::<T>()) };
}
