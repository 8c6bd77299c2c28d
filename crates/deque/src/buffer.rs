//! A buffer: a ring of item cells and, behind them, a mark for each.
//!
//! Access rules:
//! * a cell: the owner, while its index is not claimed by a thief; the thief that claimed its
//!   index, until it sets the mark. The owner reuses a cell only after it has seen the mark.
//! * a mark: set by the thread that claimed the cell's index through `top`; read by the owner.
//!
//! | mark | meaning |
//! |---|---|
//! | 0 | the cell's index was never claimed in this buffer |
//! | 1 | the last claim resolved here was of an index in an even lap |
//! | 3 | the last claim resolved here was of an index in an odd lap |

use crate::prim::{AtomicU8, Ordering, UnsafeCell};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

type Cell<T> = UnsafeCell<MaybeUninit<T>>;

/// Pointer to a buffer, and its capacity. Copies are free; only [`Buffer::free`] frees memory.
pub(crate) struct Buffer<T> {
    base: *mut u8,
    /// Capacity less one; the capacity is a power of two.
    mask: u32,
    _items: PhantomData<*mut T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Buffer<T> {}

impl<T> Buffer<T> {
    /// The smallest capacity: about 2 KiB of items, at least 16 and at most 256 of them.
    pub(crate) const MIN: u32 = if cfg!(loom) {
        2
    } else {
        match size_of::<T>() {
            0..=8 => 256,
            9..=64 => 2048 / (size_of::<T>() as u32).next_power_of_two(),
            _ => 16,
        }
    };
    /// The largest capacity. Indices have 32 bits, and a full deque must not look negative.
    pub(crate) const MAX: u32 = 1 << 30;

    /// Room for the capacity's logarithm in the low bits of the pointer.
    const ALIGN: usize = 64;

    fn layout(capacity: usize) -> (Layout, usize) {
        let parts = || {
            let cells = Layout::array::<Cell<T>>(capacity).ok()?;
            let marks = Layout::array::<AtomicU8>(capacity).ok()?;
            let (both, offset) = cells.extend(marks).ok()?;
            Some((both.align_to(Self::ALIGN).ok()?.pad_to_align(), offset))
        };
        parts().expect("deque capacity overflow")
    }

    /// A buffer for `capacity` items, a power of two from `MIN` to `MAX`.
    pub(crate) fn new(capacity: u32) -> Self {
        debug_assert!(capacity.is_power_of_two() && capacity <= Self::MAX);
        let (layout, _) = Self::layout(capacity as usize);
        // SAFETY: there is a mark for each item at least, so the layout is not empty.
        let base = unsafe { alloc(layout) };
        if base.is_null() {
            handle_alloc_error(layout);
        }
        let buffer = Self { base, mask: capacity - 1, _items: PhantomData };
        // SAFETY: within the allocation by the layout, and no other thread knows of it. Cells need
        // no initial value, and zero is a mark's; the model checker's kinds of both have to be
        // made.
        unsafe {
            if cfg!(loom) {
                for index in 0..capacity {
                    buffer.cell_ptr(index).write(UnsafeCell::new(MaybeUninit::uninit()));
                    buffer.mark_ptr(index).write(AtomicU8::new(0));
                }
            } else {
                buffer.mark_ptr(0).write_bytes(0, capacity as usize);
            }
        }
        buffer
    }

    /// Gives the memory back. Items in it are not dropped.
    ///
    /// # Safety
    /// No thread uses the buffer, now or later.
    pub(crate) unsafe fn free(self) {
        let (layout, _) = Self::layout(self.capacity() as usize);
        if cfg!(loom) {
            for index in 0..self.capacity() {
                // SAFETY: made by `new`, and unused by the contract. Writing nothing to the cell
                // lets the model checker find a thief that still reads it.
                unsafe {
                    (*self.cell_ptr(index)).with_mut(|_| ());
                    self.cell_ptr(index).drop_in_place();
                    self.mark_ptr(index).drop_in_place();
                }
            }
        }
        // SAFETY: made by `new` with this layout, and unused by the contract.
        unsafe { dealloc(self.base, layout) }
    }

    #[inline(always)]
    pub(crate) fn capacity(self) -> u32 {
        self.mask + 1
    }

    /// The buffer as one word: the capacity's logarithm in the low bits of the pointer.
    pub(crate) fn pack(self) -> *mut u8 {
        self.base.map_addr(|address| address | self.capacity().trailing_zeros() as usize)
    }

    /// The buffer that was packed into `word`.
    #[inline(always)]
    pub(crate) fn unpack(word: *mut u8) -> Self {
        let log = (word.addr() & (Self::ALIGN - 1)) as u32;
        let base = word.map_addr(|address| address & !(Self::ALIGN - 1));
        Self { base, mask: (1 << log) - 1, _items: PhantomData }
    }

    #[inline(always)]
    fn cell_ptr(self, index: u32) -> *mut Cell<T> {
        self.base.cast::<Cell<T>>().wrapping_add((index & self.mask) as usize)
    }

    #[inline(always)]
    fn mark_ptr(self, index: u32) -> *mut AtomicU8 {
        // Marks begin where `layout` puts them: right behind the cells, aligned as they need.
        let cells = self.capacity() as usize * size_of::<Cell<T>>();
        let offset = cells.next_multiple_of(align_of::<AtomicU8>());
        let marks = self.base.wrapping_add(offset).cast::<AtomicU8>();
        marks.wrapping_add((index & self.mask) as usize)
    }

    /// Asks the processor for the cell's line. Harmless if the buffer is gone.
    #[inline(always)]
    pub(crate) fn prefetch(self, index: u32) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch never faults and has no effect on memory.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.cell_ptr(index).cast()) };
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = index;
    }

    /// Puts `item` into the cell of `index`.
    ///
    /// # Safety
    /// The caller is the owner, the buffer is its current one, and the cell is free: all claims of
    /// indices that share it are resolved.
    #[inline(always)]
    pub(crate) unsafe fn write(self, index: u32, item: MaybeUninit<T>) {
        // SAFETY: live, initialised, and by the contract the caller's alone.
        unsafe { (*self.cell_ptr(index)).with_mut(|cell| cell.write(item)) }
    }

    /// Copies the contents of the cell of `index`; a caller that has the right to the item may
    /// assume it.
    ///
    /// # Safety
    /// The buffer is live, and no thread writes to the cell meanwhile: the caller is the owner, or
    /// has claimed `index` and not resolved it.
    #[inline(always)]
    pub(crate) unsafe fn read(self, index: u32) -> MaybeUninit<T> {
        // SAFETY: live and initialised by the contract.
        unsafe { (*self.cell_ptr(index)).with(|cell| cell.read()) }
    }

    /// The mark that says that a claim of `index` is resolved.
    #[inline(always)]
    fn resolved(self, index: u32) -> u8 {
        if index & self.capacity() == 0 { 1 } else { 3 }
    }

    /// Marks the claim of `index` as resolved: the caller will not touch the cell again.
    ///
    /// # Safety
    /// The caller claimed `index` in this buffer and has not marked it yet, which keeps it live.
    #[inline(always)]
    pub(crate) unsafe fn resolve(self, index: u32) {
        // Ordering: Release pairs with the Acquire in `first_unresolved`: the item is read before
        // the owner reuses the cell or frees the buffer.
        // SAFETY: live by the contract.
        unsafe { &*self.mark_ptr(index) }.store(self.resolved(index), Ordering::Release);
    }

    /// The first index of `[from, to)` whose claim is not resolved, or `to`. All of them are
    /// claimed, and span a lap at most.
    ///
    /// # Safety
    /// The buffer is live; all earlier claims of the same cells in this buffer are resolved.
    #[inline]
    pub(crate) unsafe fn first_unresolved(self, from: u32, to: u32) -> u32 {
        let mut index = from;
        while index != to {
            // A run within one lap: the mark that says "resolved" is the same for all of it.
            let lap_left = self.capacity() - (index & self.mask);
            let run = to.wrapping_sub(index).min(lap_left);
            let (resolved, first) = (self.resolved(index), self.mark_ptr(index));
            // Ordering: Acquire pairs with the Release in `resolve`.
            // SAFETY: live by the contract; a run ends where the marks do.
            let is_resolved = |nth: u32| unsafe {
                (*first.wrapping_add(nth as usize)).load(Ordering::Acquire) == resolved
            };
            for nth in 0..run {
                if !is_resolved(nth) {
                    return index.wrapping_add(nth);
                }
            }
            index = index.wrapping_add(run);
        }
        to
    }

    /// Copies the cells of `[from, to)` to the same indices of `other`.
    ///
    /// # Safety
    /// The caller is the owner of both; no other thread knows `other`, and it is large enough.
    pub(crate) unsafe fn copy_to(self, other: Self, from: u32, to: u32) {
        let mut index = from;
        while index != to {
            // A run that wraps in neither ring.
            let left = |ring: Self| ring.capacity() - (index & ring.mask);
            let run = to.wrapping_sub(index).min(left(self)).min(left(other));
            for at in 0..run {
                let at = index.wrapping_add(at);
                // SAFETY: thieves only read these cells; the owner, which alone writes, is here.
                unsafe { other.write(at, self.read(at)) };
            }
            index = index.wrapping_add(run);
        }
    }
}

/// A buffer that has been replaced, with the claims that thieves made in it.
pub(crate) struct Retired<T> {
    buffer: Buffer<T>,
    /// Claims before this index are resolved.
    resolved: u32,
    /// The index at which the buffer was replaced: no claim in it is of this index or a later one.
    end: u32,
}

impl<T> Retired<T> {
    pub(crate) fn new(buffer: Buffer<T>, resolved: u32, end: u32) -> Self {
        Self { buffer, resolved, end }
    }

    /// Frees the buffer if all claims in it are resolved; says whether it did.
    pub(crate) fn try_free(&mut self) -> bool {
        // SAFETY: the buffer is live until the end of this function; claims are looked at in order.
        self.resolved = unsafe { self.buffer.first_unresolved(self.resolved, self.end) };
        if self.resolved != self.end {
            return false;
        }
        // SAFETY: every thief that claimed an index in this buffer has marked it, after which it
        // does not touch it. A thief that has not claimed yet fails, for the generation has
        // changed.
        unsafe { self.buffer.free() };
        true
    }

    /// Frees the buffer.
    ///
    /// # Safety
    /// No thief is at work.
    pub(crate) unsafe fn free(self) {
        // SAFETY: by the contract no thread holds a claim.
        unsafe { self.buffer.free() }
    }
}
