//! A segment: a header and, behind it in the same block, its slots.
//!
//! Access rules:
//! * `next`: written once, by the producer that claimed the last slot; read by the consumer that
//!   claimed it, and by the thread that moves the head past this segment. In a retired segment: the
//!   next one on the list, which belongs to the list.
//! * a slot's item: written by the one producer that claimed it until it makes the slot full,
//!   afterwards read by the one consumer that claimed it until it makes the slot taken.
//!
//! | flag | the slot is | next |
//! |---|---|---|
//! | 0 | free, or being filled | full, by the producer that claimed it |
//! | 1 | full, or being read | taken, by the consumer that claimed it |
//! | 2 | taken: no thread touches it | free, by the thread that recycles the segment |

use super::block::{Block, Slot};
use super::cursor::lap;
use crate::prim::{AtomicPtr, Ordering};
use crate::trace::Traced;
use sateen_base::{Backoff, prefetch_write};

const FREE: u8 = 0;
const FULL: u8 = 1;
const TAKEN: u8 = 2;

/// Head of a segment; `lap::<T>() - 1` slots follow.
struct Header {
    /// The segment after this one, null until the last slot is claimed.
    next: AtomicPtr<u8>,
}

/// Pointer to a live segment. Copies are free; only [`Segment::free`] frees memory.
pub(super) struct Segment<T>(Block<Header, T>);

impl<T> Clone for Segment<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Segment<T> {}

impl<T> Segment<T> {
    /// Slots in a segment.
    pub(super) const SLOTS: usize = lap::<T>() as usize - 1;

    /// About how large a segment is.
    pub(super) const BYTES: usize = Self::SLOTS * size_of::<Slot<T>>();

    /// An empty segment.
    pub(super) fn new() -> Self {
        let header = Header { next: AtomicPtr::new(std::ptr::null_mut()) };
        Self(Block::new(header, Self::SLOTS, FREE))
    }

    /// Marks the first `count` slots as taken.
    ///
    /// # Safety
    /// The segment is live, and no other thread knows of it.
    pub(super) unsafe fn skip(self, count: usize) {
        for slot in 0..count {
            // SAFETY: live by the contract.
            unsafe { self.0.slot(slot) }.flag.store(TAKEN, Ordering::Relaxed);
        }
    }

    /// Under the model checker: fails unless every use of every slot happened before this call.
    ///
    /// # Safety
    /// The segment is live.
    pub(super) unsafe fn assert_unused(self) {
        if cfg!(loom) {
            for offset in 0..Self::SLOTS {
                // SAFETY: live by the contract, and only looked at.
                unsafe { self.0.slot(offset) }.item.with_mut(|_| ());
            }
        }
    }

    /// Makes a drained segment as good as new.
    ///
    /// # Safety
    /// No other thread uses the segment.
    pub(super) unsafe fn reset(self) {
        // SAFETY: live and, by the contract, the caller's alone.
        unsafe {
            self.0.header().next.store(std::ptr::null_mut(), Ordering::Relaxed);
            for offset in 0..Self::SLOTS {
                self.0.slot(offset).flag.store(FREE, Ordering::Relaxed);
            }
        }
    }

    /// Gives the memory back. Items left in it are not dropped.
    ///
    /// # Safety
    /// No other thread uses the segment, now or later.
    pub(super) unsafe fn free(self) {
        // SAFETY: made by `new` for as many slots, and unused by the contract.
        unsafe { self.0.free(Self::SLOTS) };
    }

    /// The pointer for an atomic word.
    pub(super) fn as_ptr(self) -> *mut u8 {
        self.0.as_ptr()
    }

    /// The segment whose [`Segment::as_ptr`] this is; `None` for null.
    pub(super) fn from_ptr(pointer: *mut u8) -> Option<Self> {
        Block::from_ptr(pointer).map(Self)
    }

    /// Links the segment after this one, once.
    ///
    /// # Safety
    /// The caller claimed the last slot and has not written it yet, which keeps the segment live.
    pub(super) unsafe fn link(self, next: Self) {
        // Ordering: Release pairs with the Acquire in `wait_next` and `has_next`, and shows the new
        // segment's initial state.
        // SAFETY: live by the contract.
        unsafe { self.0.header() }.next.store(next.as_ptr(), Ordering::Release);
    }

    /// Waits for the segment after this one.
    ///
    /// # Safety
    /// The caller claimed the last slot for reading and is not through with it: that keeps the
    /// segment live. A producer is about to link the next one.
    pub(super) unsafe fn wait_next(self) -> Self {
        let mut backoff = Backoff::new();
        loop {
            // Ordering: Acquire pairs with the Release in `link`.
            // SAFETY: live by the contract.
            let next = unsafe { self.0.header() }.next.load(Ordering::Acquire);
            if let Some(next) = Self::from_ptr(next) {
                return next;
            }
            backoff.snooze();
        }
    }

    /// Whether a segment after this one is linked.
    ///
    /// # Safety
    /// The segment is live.
    pub(super) unsafe fn has_next(self) -> bool {
        // Ordering: Relaxed, the answer only saves reading the tail.
        // SAFETY: live by the contract.
        !unsafe { self.0.header() }.next.load(Ordering::Relaxed).is_null()
    }

    /// Fills a slot and makes it full, and tells `traced` before.
    ///
    /// # Safety
    /// The caller claimed slot `offset` for writing, which keeps the segment live.
    #[inline(always)]
    pub(super) unsafe fn write(self, offset: usize, item: T, traced: Traced) {
        // SAFETY: live by the contract; the claim excludes other writers, and readers wait for
        // FULL.
        let slot = unsafe { self.0.slot(offset) };
        traced.sent(slot);
        slot.item.with_mut(|at| {
            // SAFETY: as above.
            unsafe { (*at).write(item) };
        });
        // Ordering: Release pairs with the Acquire in `read`, and shows the item.
        slot.flag.store(FULL, Ordering::Release);
    }

    /// Takes the item out of a slot; waits for a producer that has claimed the slot but not yet
    /// filled it.
    ///
    /// # Safety
    /// The caller claimed slot `offset` for reading and reads it once, which keeps the segment live
    /// until then.
    #[inline(always)]
    pub(super) unsafe fn read(self, offset: usize, traced: Traced) -> T {
        // SAFETY: live by the contract.
        let slot = unsafe { self.0.slot(offset) };
        let mut backoff = Backoff::new();
        // Ordering: Acquire pairs with the Release in `write`.
        while slot.flag.load(Ordering::Acquire) != FULL {
            backoff.snooze();
        }
        // SAFETY: FULL says that the item is there; the claim makes this the only read of it.
        let item = slot.item.with(|at| unsafe { (*at).assume_init_read() });
        traced.received(slot);
        // Ordering: Release pairs with the Acquire in `is_used_up`: this read comes before the
        // memory is freed or used again.
        slot.flag.store(TAKEN, Ordering::Release);
        item
    }

    /// Whether slot `offset` holds an item: for tests, in which `read` would wait for ever.
    ///
    /// # Safety
    /// The segment is live.
    #[cfg(all(test, not(loom)))]
    pub(super) unsafe fn is_full(self, offset: usize) -> bool {
        // SAFETY: live by the contract.
        unsafe { self.0.slot(offset) }.flag.load(Ordering::Relaxed) == FULL
    }

    /// Fetches lines that will be read and marked: those of the `count` slots two lines after
    /// `offset`, up to the last slot.
    #[inline(always)]
    pub(super) fn fetch(self, offset: usize, count: usize) {
        let first = offset + Block::<Header, T>::slots_in(2);
        self.0.fetch(first, count.min(Self::SLOTS.saturating_sub(first)));
    }

    /// Fetches what a consumer needs next, if the `count` slots from `offset` on are near the end:
    /// first the link, then the first lines of the segment after this one. Otherwise it would wait
    /// for each in turn.
    ///
    /// # Safety
    /// The segment is live.
    #[inline(always)]
    pub(super) unsafe fn fetch_next(self, offset: usize, count: usize) {
        let comes_to = |slot: usize| (offset..offset + count).contains(&slot);
        if comes_to(Self::SLOTS.saturating_sub(24)) {
            prefetch_write(self.0.as_ptr());
        } else if comes_to(Self::SLOTS.saturating_sub(12)) {
            // SAFETY: live by the contract.
            let next = unsafe { self.0.header() }.next.load(Ordering::Relaxed);
            if let Some(next) = Self::from_ptr(next) {
                next.0.fetch(0, Block::<Header, T>::slots_in(4).min(Self::SLOTS));
            }
        }
    }

    /// Whether all threads are through with every slot; then the segment is the caller's alone.
    ///
    /// # Safety
    /// The segment is live, and no other thread asks.
    pub(super) unsafe fn is_used_up(self) -> bool {
        // From the end, where slow readers are likelier.
        (0..Self::SLOTS).rev().all(|offset| {
            // Ordering: Acquire pairs with the Release in `read`.
            // SAFETY: live by the contract.
            unsafe { self.0.slot(offset) }.flag.load(Ordering::Acquire) == TAKEN
        })
    }

    /// The link on the list of retired segments.
    ///
    /// # Safety
    /// The segment is live, and retired by the caller or taken off the list by it.
    pub(super) unsafe fn retired_next<'a>(self) -> &'a AtomicPtr<u8> {
        // SAFETY: live by the contract.
        unsafe { &self.0.header().next }
    }
}
