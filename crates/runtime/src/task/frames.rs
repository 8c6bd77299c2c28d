//! Memory for task frames, kept by the thread that frees it for the next task that it spawns.
//!
//! Frames come in a few sizes, each with caches for all threads of the process: frames outlive their runtime where
//! somebody keeps a handle, and may be freed by any thread.

use sateen_pool::HeapMagazine;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Sizes are multiples of this.
const STEP: usize = 64;
/// Alignment of all that are kept: what allocators give without extra work.
const ALIGN: usize = 16;
/// Largest frame that is kept, in steps.
const CLASSES: usize = 8;

static KEPT: [HeapMagazine; CLASSES] = {
    const fn class(steps: usize) -> HeapMagazine {
        match Layout::from_size_align(steps * STEP, ALIGN) {
            Ok(layout) => HeapMagazine::of(layout),
            Err(_) => unreachable!(),
        }
    }
    [class(1), class(2), class(3), class(4), class(5), class(6), class(7), class(8)]
};

/// Where frames of a layout are kept, if they are.
#[inline(always)]
fn kept(layout: Layout) -> Option<&'static HeapMagazine> {
    let class = layout.size().saturating_sub(1) / STEP;
    if layout.align() <= ALIGN { KEPT.get(class) } else { None }
}

/// Memory for a frame of this layout.
#[inline(always)]
pub(super) fn take(layout: Layout) -> NonNull<u8> {
    let frame = match kept(layout) {
        Some(kept) => kept.take(),
        // SAFETY: no frame is empty.
        None => NonNull::new(unsafe { alloc(layout) }),
    };
    frame.unwrap_or_else(|| handle_alloc_error(layout))
}

/// Takes memory back that [`take`] gave for this layout.
///
/// # Safety
/// Nobody uses it any more.
#[inline(always)]
pub(super) unsafe fn give(frame: NonNull<u8>, layout: Layout) {
    // SAFETY: as `take` took it.
    unsafe {
        match kept(layout) {
            Some(kept) => kept.give(frame),
            None => dealloc(frame.as_ptr(), layout),
        }
    }
}
