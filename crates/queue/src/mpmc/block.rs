//! Memory for slots behind a header.

use crate::prim::{AtomicU8, UnsafeCell};
use sateen_base::prefetch_write;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// An item with its flag. They share a line: this came out faster than seven flags before seven
/// items.
#[repr(C)]
pub(super) struct Slot<T> {
    /// Says who may touch the item: the queue's protocol.
    pub(super) flag: AtomicU8,
    pub(super) item: UnsafeCell<MaybeUninit<T>>,
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Pointer to a live block. Copies are free; only [`Block::free`] frees memory.
pub(super) struct Block<H, T>(NonNull<u8>, PhantomData<(*mut H, *mut T)>);

impl<H, T> Clone for Block<H, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<H, T> Copy for Block<H, T> {}

impl<H, T> Block<H, T> {
    /// Where the first slot begins.
    const START: usize = match Self::layout(0) {
        Some(layout) => layout.size(),
        None => panic!("items too large"),
    };

    /// Layout of a header and `slots` slots; `None` if that is more than can be addressed. Not
    /// aligned to a line: allocators have a slower path for that.
    const fn layout(slots: usize) -> Option<Layout> {
        let (Ok(header), Ok(slots)) =
            (Layout::new::<H>().align_to(16), Layout::array::<Slot<T>>(slots))
        else {
            return None;
        };
        match header.pad_to_align().extend(slots) {
            Ok((layout, _)) => Some(layout.pad_to_align()),
            Err(_) => None,
        }
    }

    /// A block on the heap, written there and never on the stack; every flag is `flag`. Aborts if
    /// memory runs out.
    pub(super) fn new(header: H, slots: usize, flag: u8) -> Self {
        assert!(slots > 0);
        let Some(layout) = Self::layout(slots) else { panic!("items too large") };
        // SAFETY: the layout holds a slot, so it is not empty.
        let base = unsafe { alloc(layout) };
        let Some(base) = NonNull::new(base) else { handle_alloc_error(layout) };
        // SAFETY: the memory is this thread's alone, and large enough by its layout.
        unsafe { Self::filled(base, header, slots, flag) }
    }

    /// As [`new`](Self::new); `None` if there is no memory. With a flag of 0 the memory is not
    /// touched: it becomes resident as it is used.
    pub(super) fn try_new(header: H, slots: usize, flag: u8) -> Option<Self> {
        assert!(slots > 0);
        let layout = Self::layout(slots)?;
        // SAFETY: the layout holds a slot, so it is not empty.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        if flag != 0 || cfg!(loom) {
            // SAFETY: the memory is this thread's alone, and large enough by its layout.
            return Some(unsafe { Self::filled(base, header, slots, flag) });
        }
        // SAFETY: as above. Zeros are slots with the flag 0 and without an item.
        unsafe { base.cast::<H>().write(header) };
        Some(Self(base, PhantomData))
    }

    /// # Safety
    /// `base` is memory of the layout, the caller's alone.
    unsafe fn filled(base: NonNull<u8>, header: H, slots: usize, flag: u8) -> Self {
        let block = Self(base, PhantomData);
        // SAFETY: by the contract.
        unsafe {
            base.cast::<H>().write(header);
            for slot in 0..slots {
                let item = UnsafeCell::new(MaybeUninit::uninit());
                block.slot_ptr(slot).write(Slot { flag: AtomicU8::new(flag), item });
            }
        }
        block
    }

    /// Gives the memory back. Items left in it are not dropped.
    ///
    /// # Safety
    /// The block was made for as many slots, and no other thread uses it, now or later.
    pub(super) unsafe fn free(self, slots: usize) {
        // SAFETY: made by `new` with the same layout, and unused by the contract. The model
        // checker's atomics have drop glue; the real ones have none, and the loop vanishes.
        unsafe {
            if std::mem::needs_drop::<Slot<T>>() {
                for slot in 0..slots {
                    self.slot_ptr(slot).drop_in_place();
                }
            }
            self.0.cast::<H>().drop_in_place();
            // It was allocated, so it has a layout.
            dealloc(self.0.as_ptr(), Self::layout(slots).unwrap_unchecked());
        }
    }

    /// The pointer for an atomic word.
    pub(super) fn as_ptr(self) -> *mut u8 {
        self.0.as_ptr()
    }

    /// The block whose [`Block::as_ptr`] this is; `None` for null.
    pub(super) fn from_ptr(pointer: *mut u8) -> Option<Self> {
        NonNull::new(pointer).map(|base| Self(base, PhantomData))
    }

    /// # Safety
    /// The block is live.
    #[inline(always)]
    pub(super) unsafe fn header<'a>(self) -> &'a H {
        // SAFETY: live by the contract; the header lies at its start.
        unsafe { self.0.cast::<H>().as_ref() }
    }

    #[inline(always)]
    fn slot_ptr(self, slot: usize) -> *mut Slot<T> {
        self.0.as_ptr().wrapping_add(Self::START).cast::<Slot<T>>().wrapping_add(slot)
    }

    /// # Safety
    /// The block is live and has that slot.
    #[inline(always)]
    pub(super) unsafe fn slot<'a>(self, slot: usize) -> &'a Slot<T> {
        // SAFETY: within the allocation, initialised by `new`, live by the contract.
        unsafe { &*self.slot_ptr(slot) }
    }

    /// Slots in `lines` cache lines; 0 if there is less than one.
    pub(super) const fn slots_in(lines: usize) -> usize {
        lines * LINE / size_of::<Slot<T>>()
    }

    /// Fetches the lines that begin with one of the `count` slots from `first` on, to be written.
    #[inline(always)]
    pub(super) fn fetch(self, first: usize, count: usize) {
        for slot in first..first + count {
            let at = self.slot_ptr(slot).cast::<u8>();
            if !cfg!(loom) && at.addr() % LINE < size_of::<Slot<T>>() {
                prefetch_write(at);
            }
        }
    }
}
