//! Blocks of one size without a limit: caches in front of the global allocator.

use super::caches::{BATCH, Caches};
use super::depot::Depot;
use crate::{BuildError, NoCount};
#[cfg(not(loom))]
use sateen_base::prim::{AtomicBool, Ordering};
use sateen_base::{CachePadded, RawSpinLock, SpinLock};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
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
/// # use sateen_pool as pool;
/// use pool::HeapMagazine;
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
    /// For values of type `T`.
    pub const fn new<T>() -> Self {
        Self::of(Layout::new::<T>())
    }

    /// For this layout, enlarged to a byte if it has no size.
    pub const fn of(layout: Layout) -> Self {
        let size = if layout.size() == 0 { 1 } else { layout.size() };
        let layout = match Layout::from_size_align(size, layout.align()) {
            Ok(layout) => layout,
            Err(_) => panic!("a layout that no allocator can have"),
        };
        Self { layout, caches: OnceLock::new() }
    }

    /// What the allocator is asked for.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// From now on each `HeapMagazine` of the process that has kept nothing yet keeps nothing: each
    /// block comes from the allocator and goes back to it. Call it first thing, for memory
    /// checkers, and to measure what keeping gains.
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
        // SAFETY: at least a byte large.
        NonNull::new(unsafe { alloc(self.layout) })
    }

    fn caches() -> Result<Caches<Heap>, BuildError> {
        Caches::new(Heap::new()?, usize::MAX)
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

/// A batch that is kept.
type Batch = [NonNull<u8>; BATCH as usize];

/// The depot: a stack of batches, then the allocator.
///
/// A batch lies beside its blocks, and not linked through them. The blocks were freed by another
/// thread, so each link would have to come from that thread's core before the next one is known.
#[derive(Debug)]
struct Heap {
    kept: CachePadded<SpinLock<Kept>>,
}

/// Its room is there from the start: nothing is allocated under the lock.
#[derive(Debug)]
struct Kept(Vec<Batch>);

// SAFETY: addresses of blocks, which any thread may hold.
unsafe impl Send for Kept {}

impl Heap {
    fn new() -> Result<Self, BuildError> {
        let mut kept = Vec::new();
        let bytes = KEPT * size_of::<Batch>();
        kept.try_reserve_exact(KEPT).map_err(|_| BuildError::OutOfMemory { bytes })?;
        Ok(Self { kept: CachePadded::new(SpinLock::from_raw(RawSpinLock::new(), Kept(kept))) })
    }

    fn pop(&self) -> Option<Batch> {
        self.kept.lock().0.pop()
    }

    /// Pushes a batch. Returns whether there was room.
    fn push(&self, batch: &Batch) -> bool {
        let mut kept = self.kept.lock();
        let has_room = kept.0.len() < KEPT;
        if has_room {
            kept.0.push(*batch);
        }
        has_room
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
            batch.into_iter().for_each(put);
            return BATCH;
        }
        for count in 0..most.min(FRESH) {
            // SAFETY: at least a byte large.
            match NonNull::new(unsafe { alloc(*of) }) {
                Some(block) => put(block),
                None => return count,
            }
        }
        most.min(FRESH)
    }

    unsafe fn give(&self, of: &Layout, _: &mut u32, blocks: impl Iterator<Item = NonNull<u8>>) {
        let mut blocks = blocks.fuse();
        loop {
            let mut batch: Batch = [NonNull::dangling(); BATCH as usize];
            let mut count = 0;
            for (place, block) in batch.iter_mut().zip(&mut blocks) {
                (*place, count) = (block, count + 1);
            }
            if count < batch.len() || !self.push(&batch) {
                for block in &batch[..count] {
                    // SAFETY: allocated with this layout, and free.
                    unsafe { dealloc(block.as_ptr(), *of) };
                }
            }
            if count < batch.len() {
                break;
            }
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
            batch.into_iter().for_each(free);
        }
    }
}
