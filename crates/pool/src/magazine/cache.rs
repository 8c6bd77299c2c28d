//! One thread's blocks.

use crate::zeroed::Zero;
use sateen_base::SpinLock;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::{Ordering, UnsafeCell};
use std::ptr::NonNull;

/// Blocks that a cache holds at most: with the other fields, 1 KiB.
pub(super) const SLOTS: usize = if cfg!(loom) { 2 } else { 122 };

/// Free blocks of one thread, its owner.
///
/// | `open` | meaning | who may change the rest |
/// |---|---|---|
/// | 1 | the cache holds `slots[..len]`, the newest last | the owner |
/// | 0 | it holds nothing: what it says was taken away, or never was | the owner, with `kept` locked |
///
/// All zeros is a cache that never was opened.
#[repr(C, align(128))]
#[derive(Debug)]
pub(super) struct Cache {
    pub(super) len: AtomicU32,
    /// Written with `kept` locked.
    pub(super) open: AtomicU32,
    pub(super) kept: SpinLock<Kept>,
    slots: [UnsafeCell<*mut u8>; SLOTS],
}

/// The rest of a cache.
#[derive(Debug)]
pub(super) struct Kept {
    /// Where in the depot the owner works.
    pub(super) near: u32,
    /// Operations that are still to go past the cache, see [`STRICT`](super::caches::STRICT).
    pub(super) strict: u32,
    /// Whether those who reclaim know of the cache.
    pub(super) known: bool,
    /// Whether it is being reclaimed.
    pub(super) closing: bool,
    /// Slots that were taken away while the owner has not come back.
    pub(super) gone: u32,
}

// SAFETY: a cell of the array is written by the owner, where nobody else looks; see `slot`.
unsafe impl Sync for Cache {}
// SAFETY: addresses of blocks that anyone may hold.
unsafe impl Send for Cache {}

// SAFETY: atomics, integers, null pointers, a free lock (a word of 0) and false.
unsafe impl Zero for Cache {
    #[cfg(loom)]
    fn zero() -> Self {
        let kept = Kept { near: 0, strict: 0, known: false, closing: false, gone: 0 };
        Self {
            len: AtomicU32::new(0),
            open: AtomicU32::new(0),
            kept: SpinLock::from_raw(sateen_base::RawSpinLock::new(), kept),
            slots: std::array::from_fn(|_| UnsafeCell::new(std::ptr::null_mut())),
        }
    }
}

impl Cache {
    /// The block in slot `index`.
    ///
    /// # Safety
    /// The owner asks, or whoever locked `kept` and sees a greater `len`, which it has read after it closed the cache:
    /// then the owner leaves the slots below alone. A block was put there.
    #[inline(always)]
    pub(super) unsafe fn slot(&self, index: u32) -> NonNull<u8> {
        debug_assert!((index as usize) < SLOTS);
        // SAFETY: `len` is at most `SLOTS`; the rest as the caller says.
        unsafe {
            let slot = self.slots.get_unchecked(index as usize);
            slot.with(|block| NonNull::new_unchecked(*block))
        }
    }

    /// Puts a block in slot `index`.
    ///
    /// # Safety
    /// The owner does; nobody else is told of the slot yet, or `kept` is locked. The index is below `SLOTS`.
    #[inline(always)]
    pub(super) unsafe fn set_slot(&self, index: u32, block: NonNull<u8>) {
        debug_assert!((index as usize) < SLOTS);
        // SAFETY: as the caller says.
        unsafe {
            let slot = self.slots.get_unchecked(index as usize);
            slot.with_mut(|slot| *slot = block.as_ptr());
        }
    }

    /// Moves the slots from `first` up to `end`, no more than `first` of them, to the beginning.
    ///
    /// # Safety
    /// The owner does, `kept` being locked; blocks were put there.
    #[inline(always)]
    pub(super) unsafe fn move_down(&self, first: u32, end: u32) {
        debug_assert!(first <= end && end <= 2 * first && end as usize <= SLOTS);
        #[cfg(loom)]
        for from in first..end {
            // SAFETY: passed on.
            unsafe { self.set_slot(from - first, self.slot(from)) };
        }
        #[cfg(not(loom))]
        // SAFETY: within the slots; the two parts do not meet. Nobody else looks at them, as the caller says.
        unsafe {
            // The cells are transparent, and next to each other.
            let slots = self.slots.as_ptr().cast::<*mut u8>().cast_mut();
            let count = (end - first) as usize;
            std::ptr::copy_nonoverlapping(slots.add(first as usize), slots, count);
        }
    }

    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        // Ordering: Relaxed; the owner's light fence and the reclaimer's heavy one order it.
        self.open.load(Ordering::Relaxed) != 0
    }

    /// Blocks here.
    pub(super) fn count(&self) -> usize {
        // Ordering: Relaxed, a guess while the owner works.
        if self.is_open() { self.len.load(Ordering::Relaxed) as usize } else { 0 }
    }

    /// The cache is found closed, or empty: makes it say that it holds nothing. Whether the block that the owner has
    /// just taken from slot `at` or put there had been taken away. The owner calls, `kept` being locked.
    pub(super) fn acknowledge(&self, kept: &mut Kept, at: u32) -> bool {
        let gone = at < std::mem::take(&mut kept.gone);
        // Ordering: Relaxed, published by the lock; nobody looks at it while it is closed.
        self.len.store(0, Ordering::Relaxed);
        gone
    }
}

// Pages are not touched in vain.
#[cfg(not(loom))]
const _: () = assert!(size_of::<Cache>() == 1024);
