//! Memory for task frames, kept by the worker that frees it for the next task that it spawns.
//!
//! Frames come in a few sizes. Where they were made does not matter: all come from the global allocator
//! with the same layout for a size, and whoever frees one keeps it, up to a limit.

use crate::context;
use sateen_base::prim::UnsafeCell;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Sizes are multiples of this.
const STEP: usize = 64;
/// Alignment of all that are kept: what allocators give without extra work.
const ALIGN: usize = 16;
/// Largest frame that is kept, in steps.
const CLASSES: usize = 8;
/// Frames of a size that a worker keeps.
const KEPT: u32 = 1024;

/// A freed frame.
struct Free {
    next: *mut Free,
}

/// Freed frames of one size.
#[derive(Clone, Copy, Debug)]
struct List {
    head: *mut Free,
    len: u32,
}

/// One worker's. Its thread only.
#[derive(Debug)]
pub(crate) struct Frames(UnsafeCell<[List; CLASSES]>);

/// The class of a layout, if it has one.
#[inline(always)]
const fn class(layout: Layout) -> Option<usize> {
    let class = layout.size().saturating_sub(1) / STEP;
    if layout.align() <= ALIGN && class < CLASSES { Some(class) } else { None }
}

#[inline(always)]
fn whole(class: usize) -> Layout {
    // SAFETY: a power of two, and a small multiple of it.
    unsafe { Layout::from_size_align_unchecked((class + 1) * STEP, ALIGN) }
}

impl Frames {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new([List { head: std::ptr::null_mut(), len: 0 }; CLASSES]))
    }

    #[inline]
    fn with<R>(&self, class: usize, f: impl FnOnce(&mut List) -> R) -> R {
        // SAFETY: worker's thread; `f` does not come back here.
        self.0.with_mut(|lists| f(unsafe { &mut (&mut *lists)[class] }))
    }

    #[inline]
    fn take(&self, class: usize) -> Option<NonNull<u8>> {
        self.with(class, |list| {
            let free = NonNull::new(list.head)?;
            // SAFETY: in the list, so it is a free frame of ours.
            list.head = unsafe { free.as_ref() }.next;
            list.len -= 1;
            Some(free.cast())
        })
    }

    /// Whether it was kept.
    #[inline]
    fn keep(&self, class: usize, frame: NonNull<u8>) -> bool {
        self.with(class, |list| {
            if list.len == KEPT {
                return false;
            }
            let free = frame.cast::<Free>();
            // SAFETY: nobody uses the frame any more, and it has room and alignment for a pointer.
            unsafe { free.write(Free { next: list.head }) };
            list.head = free.as_ptr();
            list.len += 1;
            true
        })
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        for class in 0..CLASSES {
            while let Some(frame) = self.take(class) {
                // SAFETY: allocated with this layout.
                unsafe { dealloc(frame.as_ptr(), whole(class)) };
            }
        }
    }
}

/// Memory for a frame of this layout.
#[inline(always)]
pub(super) fn take(layout: Layout) -> NonNull<u8> {
    if let Some(class) = class(layout)
        && let Some(worker) = context::with(context::Context::worker)
        && let Some(frame) = worker.frames().take(class)
    {
        return frame;
    }
    take_slow(layout)
}

#[cold]
#[inline(never)]
fn take_slow(layout: Layout) -> NonNull<u8> {
    let layout = class(layout).map_or(layout, whole);
    // SAFETY: no frame is empty.
    let frame = unsafe { alloc(layout) };
    NonNull::new(frame).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Takes memory back that [`take`] gave for this layout.
///
/// # Safety
/// Nobody uses it any more.
#[inline(always)]
pub(super) unsafe fn give(frame: NonNull<u8>, layout: Layout) {
    if let Some(class) = class(layout)
        && let Some(worker) = context::with(context::Context::worker)
        && worker.frames().keep(class, frame)
    {
        return;
    }
    // SAFETY: passed on.
    unsafe { give_slow(frame, layout) };
}

#[cold]
#[inline(never)]
unsafe fn give_slow(frame: NonNull<u8>, layout: Layout) {
    // SAFETY: as `take_slow` allocated it.
    unsafe { dealloc(frame.as_ptr(), class(layout).map_or(layout, whole)) };
}
