//! One thread's blocks.

use crate::zeroed::Zero;
use sateen_base::SpinLock;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::{Ordering, UnsafeCell};
use std::ptr::NonNull;

/// Most blocks of a cache: with the other fields 1 KiB, or 640 bytes where pointers have 32 bits.
pub(super) const SLOTS: usize = if cfg!(loom) { 2 } else { 122 };

/// Free blocks of one thread, its owner.
///
/// | `open` | meaning | who may change the rest |
/// |---|---|---|
/// | 1 | the cache holds `slots[..len]`, the newest last | the owner |
/// | 0 | it holds nothing: its blocks were taken away, or it had none | the owner, locking `kept` |
///
/// All zeros is a cache that was never opened.
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
    /// Operations that still have to bypass the cache, see [`STRICT`](super::caches::STRICT).
    pub(super) strict: u32,
    /// Whether reclaiming threads know of the cache.
    pub(super) known: bool,
    /// Whether it is being reclaimed.
    pub(super) closing: bool,
    /// How many slots were taken away since the owner's last acknowledgement.
    pub(super) gone: u32,
}

// SAFETY: the owner alone writes cells of the array, where no other thread looks; see `slot`.
unsafe impl Sync for Cache {}
// SAFETY: addresses of blocks, which any thread may hold.
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
    /// A block was put there. The caller is the owner; or it has locked `kept`, closed the cache,
    /// and then read a `len` above `index`: the owner leaves the slots below that alone.
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
    /// The caller is the owner. No other thread knows of the slot yet, or `kept` is locked. The
    /// index is below `SLOTS`.
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
    /// The caller is the owner and has locked `kept`. Blocks were put there.
    #[inline(always)]
    pub(super) unsafe fn move_down(&self, first: u32, end: u32) {
        debug_assert!(first <= end && end <= 2 * first && end as usize <= SLOTS);
        #[cfg(loom)]
        for from in first..end {
            // SAFETY: passed on.
            unsafe { self.set_slot(from - first, self.slot(from)) };
        }
        #[cfg(not(loom))]
        // SAFETY: within the slots; the two parts do not overlap. No other thread looks at them, as
        // the caller promises.
        unsafe {
            // The cells are transparent and adjacent.
            let slots = self.slots.as_ptr().cast::<*mut u8>().cast_mut();
            let count = (end - first) as usize;
            std::ptr::copy_nonoverlapping(slots.add(first as usize), slots, count);
        }
    }

    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        // Relaxed: the owner's light fence and the reclaimer's heavy one order it.
        self.open.load(Ordering::Relaxed) != 0
    }

    /// How many blocks the cache holds.
    pub(super) fn count(&self) -> usize {
        // Relaxed: a guess while the owner works.
        if self.is_open() { self.len.load(Ordering::Relaxed) as usize } else { 0 }
    }

    /// The owner, which has locked `kept`, found the cache closed or empty: marks it as empty.
    /// Returns whether the block that the owner has just taken from slot `at`, or put there, had
    /// been taken away.
    pub(super) fn acknowledge(&self, kept: &mut Kept, at: u32) -> bool {
        let gone = at < std::mem::take(&mut kept.gone);
        // Relaxed: the lock publishes it; no other thread reads it while the cache is closed.
        self.len.store(0, Ordering::Relaxed);
        gone
    }
}

// A power of two, so that no cache touches two pages. Pointers of 32 bits would need twice as many
// slots for that, which no batch fills.
#[cfg(not(loom))]
const _: () = assert!(size_of::<Cache>() == if usize::BITS == 64 { 1024 } else { 640 });
