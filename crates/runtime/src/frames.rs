//! Memory for what a worker runs: tasks' frames, and the jobs of scopes. The thread that frees a
//! frame keeps it for the next one that it makes.
//!
//! Frames come in a few sizes, each with caches for all threads of the process. Any thread may free
//! a frame, and a handle may keep one beyond the end of its runtime.

use sateen_pool::HeapSizes;
use std::alloc::{Layout, handle_alloc_error};
use std::ptr::NonNull;

/// Up to 512 bytes, aligned as allocators do without extra work.
static KEPT: HeapSizes<8, 64, 16> = HeapSizes::new();

/// Moves `frame` into memory of its own, until the caller [gives](give) that back.
#[inline(always)]
pub(crate) fn place<T>(frame: T) -> NonNull<T> {
    let layout = Layout::new::<T>();
    let place = KEPT.take(layout).unwrap_or_else(|| handle_alloc_error(layout)).cast::<T>();
    // SAFETY: fresh memory of this layout.
    unsafe { place.write(frame) };
    place
}

/// Takes back the memory of a frame, and drops nothing.
///
/// # Safety
/// [`place`] returned it, and no code uses it any more.
#[inline(always)]
pub(crate) unsafe fn give<T>(place: NonNull<T>) {
    // SAFETY: as `place` took it.
    unsafe { KEPT.give(place.cast(), Layout::new::<T>()) };
}
