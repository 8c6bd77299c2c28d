//! Blocks of one size without a limit: caches in front of the global allocator.
#![cfg_attr(not(feature = "study"), allow(unreachable_pub))]

use super::caches::{BATCH, Caches};
use super::depot::Depot;
use crate::{BuildError, NoCount};
#[cfg(not(loom))]
use sateen_base::prim::{AtomicBool, Ordering};
use sateen_base::{CachePadded, RawSpinLock, SpinLock};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;

/// Most batches that are kept; further ones go back to the allocator.
const KEPT: usize = 64;
/// Blocks that the allocator is asked for at once, although only one is wanted now.
const FRESH: u32 = 16;

/// Blocks of one size and alignment from the global allocator, kept by the thread that frees them:
/// the caches of [`Magazine`](crate::Magazine) without a limit on blocks, for a static.
///
/// A thread keeps up to 122 free blocks, all threads together 4,096 more; the rest goes back to the
/// allocator. The next thread that gets the number of an ended thread uses its blocks.
///
/// # Examples
/// ```
/// use sateen::pool::HeapMagazine;
/// static NODES: HeapMagazine = HeapMagazine::new::<[u64; 4]>();
///
/// let node = NODES.take().expect("memory").cast::<[u64; 4]>();
/// // SAFETY: memory for this type; given back once.
/// unsafe {
///     node.write([1, 2, 3, 4]);
///     NODES.give(node.cast());
/// }
/// ```
#[derive(Debug)]
pub struct HeapMagazine {
    layout: Layout,
    caches: OnceLock<Caches<Heap>>,
}

impl HeapMagazine {
    /// For values of type `T`, of at least two pointers' size.
    #[cfg(feature = "study")]
    pub const fn new<T>() -> Self {
        Self::of(Layout::new::<T>())
    }

    /// For this layout, enlarged to two pointers if it is smaller.
    pub const fn of(layout: Layout) -> Self {
        const LEAST: Layout = Layout::new::<Free>();
        let size = if layout.size() < LEAST.size() { LEAST.size() } else { layout.size() };
        let align = if layout.align() < LEAST.align() { LEAST.align() } else { layout.align() };
        let layout = match Layout::from_size_align(size, align) {
            Ok(layout) => layout,
            Err(_) => panic!("a layout too large to be aligned to a pointer"),
        };
        Self { layout, caches: OnceLock::new() }
    }

    /// What the allocator is asked for.
    #[cfg(feature = "study")]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// From now on each `HeapMagazine` of the process that has kept nothing yet keeps nothing: each
    /// block comes from the allocator and goes back to it. Call it first thing, for memory
    /// checkers, and to measure what keeping gains.
    #[cfg(feature = "study")]
    pub fn keep_nothing() {
        #[cfg(not(loom))]
        // Relaxed: it guards nothing.
        KEEPS_NOTHING.store(true, Ordering::Relaxed);
    }

    /// Takes a block; `None` if the allocator has no more.
    #[inline(always)]
    pub fn take(&self) -> Option<NonNull<u8>> {
        match self.caches.get() {
            Some(caches) => caches.take(&self.layout),
            None => self.take_slow(),
        }
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// No code uses the block any more. [`take`](Self::take) returned it, of this or another one of
    /// the same layout, or the global allocator did for that layout.
    #[inline(always)]
    pub unsafe fn give(&self, block: NonNull<u8>) {
        // SAFETY: passed on.
        unsafe {
            match self.caches.get() {
                Some(caches) => caches.give(&self.layout, block),
                None => dealloc(block.as_ptr(), self.layout),
            }
        }
    }

    /// The first call, or there is no memory for the caches.
    #[cold]
    #[inline(never)]
    fn take_slow(&self) -> Option<NonNull<u8>> {
        if keeps()
            && let Ok(caches) = Self::caches()
        {
            return self.caches.get_or_init(|| caches).take(&self.layout);
        }
        // SAFETY: at least two pointers large.
        NonNull::new(unsafe { alloc(self.layout) })
    }

    fn caches() -> Result<Caches<Heap>, BuildError> {
        let heap =
            Heap { kept: CachePadded::new(SpinLock::from_raw(RawSpinLock::new(), Kept::NONE)) };
        Caches::new(heap, usize::MAX)
    }
}

#[cfg(not(loom))]
static KEEPS_NOTHING: AtomicBool = AtomicBool::new(false);

/// Whether blocks are kept. Not in a model, whose words cannot lie in a static.
fn keeps() -> bool {
    #[cfg(loom)]
    return false;
    #[cfg(not(loom))]
    // Relaxed, as in `keep_nothing`.
    !KEEPS_NOTHING.load(Ordering::Relaxed)
}

impl Drop for HeapMagazine {
    fn drop(&mut self) {
        if let Some(caches) = self.caches.get_mut() {
            caches.drain(&self.layout);
        }
    }
}

/// A free block in a batch.
struct Free {
    next: *mut Free,
    /// In the first block of a batch: the next batch.
    below: *mut Free,
}

/// Batches of [`BATCH`] free blocks, linked through themselves.
#[derive(Debug)]
struct Kept {
    top: *mut Free,
    batches: usize,
}

// SAFETY: addresses of blocks, which any thread may hold.
unsafe impl Send for Kept {}

impl Kept {
    const NONE: Self = Self { top: null_mut(), batches: 0 };
}

/// The depot: a stack of batches, then the allocator.
#[derive(Debug)]
struct Heap {
    kept: CachePadded<SpinLock<Kept>>,
}

impl Heap {
    fn pop(&self) -> Option<NonNull<Free>> {
        let mut kept = self.kept.lock();
        let top = NonNull::new(kept.top)?;
        // SAFETY: in the stack, so it is a free block, and ours while we hold the lock.
        kept.top = unsafe { top.as_ref() }.below;
        kept.batches -= 1;
        Some(top)
    }

    /// Pushes a batch. Returns whether there was room.
    fn push(&self, batch: NonNull<Free>) -> bool {
        let mut kept = self.kept.lock();
        if kept.batches == KEPT {
            return false;
        }
        // SAFETY: a free block of the caller's, written as `Free`.
        unsafe { (*batch.as_ptr()).below = kept.top };
        kept.top = batch.as_ptr();
        kept.batches += 1;
        true
    }

    /// The blocks of a batch. Each is the caller's from then on.
    fn blocks(batch: NonNull<Free>) -> impl Iterator<Item = NonNull<u8>> {
        let mut next = Some(batch);
        std::iter::from_fn(move || {
            let free = next?;
            // SAFETY: this thread owns the batch and its blocks, and reads the link before it hands
            // the block on.
            next = NonNull::new(unsafe { free.as_ref() }.next);
            Some(free.cast())
        })
    }
}

// SAFETY: blocks come from the allocator and go back to it, or go through the stack under its lock.
unsafe impl Depot for Heap {
    type Of = Layout;
    type SearchCounter = NoCount;

    fn take(&self, of: &Layout, _: &mut u32, most: u32, mut put: impl FnMut(NonNull<u8>)) -> u32 {
        if most == BATCH
            && let Some(batch) = self.pop()
        {
            Self::blocks(batch).for_each(put);
            return BATCH;
        }
        for count in 0..most.min(FRESH) {
            // SAFETY: at least two pointers large.
            match NonNull::new(unsafe { alloc(*of) }) {
                Some(block) => put(block),
                None => return count,
            }
        }
        most.min(FRESH)
    }

    unsafe fn give(&self, of: &Layout, _: &mut u32, blocks: impl Iterator<Item = NonNull<u8>>) {
        let (mut first, mut count) = (null_mut(), 0);
        for block in blocks {
            let free = block.cast::<Free>();
            // SAFETY: free, large enough and aligned.
            unsafe { free.write(Free { next: first, below: null_mut() }) };
            (first, count) = (free.as_ptr(), count + 1);
        }
        if let Some(batch) = NonNull::new(first)
            && !(count == BATCH && self.push(batch))
        {
            // SAFETY: allocated with this layout, and free.
            Self::blocks(batch).for_each(|block| unsafe { dealloc(block.as_ptr(), *of) });
        }
    }

    fn start(&self, _: usize) -> u32 {
        0
    }

    fn probe(&self) -> &NoCount {
        &NoCount
    }
}

impl Caches<Heap> {
    /// Everything back to the allocator.
    fn drain(&mut self, of: &Layout) {
        let free = |block: NonNull<u8>| {
            // SAFETY: allocated with this layout, and free.
            unsafe { dealloc(block.as_ptr(), *of) };
        };
        self.all_cached().for_each(free);
        while let Some(batch) = self.depot.pop() {
            Heap::blocks(batch).for_each(free);
        }
    }
}
