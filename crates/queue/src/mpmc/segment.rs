//! A segment: a header and, behind it in the same allocation, its slots.
//!
//! Who may touch what:
//! * `next`: written once, by the producer that claimed the last slot; read by the consumer that
//!   claimed it, and by whoever moves the head past this segment.
//! * `left`: counted up by consumers when they are through with slots.
//! * a slot: written by the one producer that claimed it until it sets `ready`, afterwards read by
//!   the one consumer that claimed it.

use super::cursor::lap;
use crate::prim::{AtomicBool, AtomicPtr, AtomicU32, Ordering, UnsafeCell};
use sateen_base::Backoff;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// What a producer leaves and a consumer takes.
#[repr(C)]
struct Slot<T> {
    /// Set when `item` is there.
    ready: AtomicBool,
    item: UnsafeCell<MaybeUninit<T>>,
}

/// Head of a segment; `lap::<T>() - 1` slots follow.
#[repr(C)]
struct Header {
    /// The segment after this one, null until the last slot is claimed.
    next: AtomicPtr<u8>,
    /// Slots that consumers are through with; the segment is free when it reaches the slot count.
    left: AtomicU32,
}

/// Pointer to a live segment. Copies are free; nothing is freed but by [`Segment::free`].
pub(super) struct Segment<T>(NonNull<u8>, std::marker::PhantomData<*mut T>);

impl<T> Clone for Segment<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Segment<T> {}

impl<T> Segment<T> {
    /// Slots in a segment.
    pub(super) const SLOTS: usize = lap::<T>() as usize - 1;

    const LAYOUT: (Layout, usize) = {
        let slots = match Layout::array::<Slot<T>>(Self::SLOTS) {
            Ok(layout) => layout,
            Err(_) => panic!("items too large"),
        };
        match Layout::new::<Header>().extend(slots) {
            Ok((layout, offset)) => (layout.pad_to_align(), offset),
            Err(_) => panic!("items too large"),
        }
    };

    /// An empty segment on the heap; never on the stack, however large `T` is.
    pub(super) fn new() -> Self {
        let (layout, _) = Self::LAYOUT;
        // SAFETY: the layout holds a header at least, so it is not empty.
        let base = unsafe { alloc(layout) };
        let Some(base) = NonNull::new(base) else { handle_alloc_error(layout) };
        let segment = Self(base, std::marker::PhantomData);
        let header = Header { next: AtomicPtr::new(std::ptr::null_mut()), left: AtomicU32::new(0) };
        // SAFETY: the memory is ours alone, and large and aligned enough for header and slots by
        // its layout.
        unsafe {
            base.cast::<Header>().write(header);
            for offset in 0..Self::SLOTS {
                let item = UnsafeCell::new(MaybeUninit::uninit());
                segment.slot_ptr(offset).write(Slot { ready: AtomicBool::new(false), item });
            }
        }
        segment
    }

    /// Under the model checker: fails unless every use of every slot happened before this call.
    ///
    /// # Safety
    /// The segment is live.
    pub(super) unsafe fn assert_unused(self) {
        if cfg!(loom) {
            for offset in 0..Self::SLOTS {
                // SAFETY: live by the contract, and nothing is written.
                unsafe { self.slot(offset) }.item.with_mut(|_| ());
            }
        }
    }

    /// Makes a segment that has been drained as good as new.
    ///
    /// # Safety
    /// Nobody else uses the segment.
    pub(super) unsafe fn reset(self) {
        // SAFETY: live and, by the contract, ours alone.
        unsafe {
            self.header().next.store(std::ptr::null_mut(), Ordering::Relaxed);
            self.header().left.store(0, Ordering::Relaxed);
            for offset in 0..Self::SLOTS {
                self.slot(offset).ready.store(false, Ordering::Relaxed);
            }
        }
    }

    /// Gives the memory back. Items left in it are not dropped.
    ///
    /// # Safety
    /// Nobody else uses the segment, now or later.
    pub(super) unsafe fn free(self) {
        // SAFETY: made by `new` with the same layout, and unused by the contract. The model
        // checker's atomics have drop glue; the real ones have none, and the loop vanishes.
        unsafe {
            if std::mem::needs_drop::<Header>() || std::mem::needs_drop::<Slot<T>>() {
                for offset in 0..Self::SLOTS {
                    self.slot_ptr(offset).drop_in_place();
                }
                self.0.cast::<Header>().drop_in_place();
            }
            dealloc(self.0.as_ptr(), Self::LAYOUT.0);
        }
    }

    /// The pointer for an atomic word.
    pub(super) fn as_ptr(self) -> *mut u8 {
        self.0.as_ptr()
    }

    /// The segment whose [`Segment::as_ptr`] this is; `None` for null.
    pub(super) fn from_ptr(pointer: *mut u8) -> Option<Self> {
        NonNull::new(pointer).map(|base| Self(base, std::marker::PhantomData))
    }

    /// # Safety
    /// The segment is live.
    unsafe fn header<'a>(self) -> &'a Header {
        // SAFETY: live by the contract; the header lies at its start.
        unsafe { self.0.cast::<Header>().as_ref() }
    }

    fn slot_ptr(self, offset: usize) -> *mut Slot<T> {
        debug_assert!(offset < Self::SLOTS);
        self.0.as_ptr().wrapping_add(Self::LAYOUT.1).cast::<Slot<T>>().wrapping_add(offset)
    }

    /// # Safety
    /// The segment is live, `offset` below the slot count.
    unsafe fn slot<'a>(self, offset: usize) -> &'a Slot<T> {
        // SAFETY: within the allocation, initialised by `new`, live by the contract.
        unsafe { &*self.slot_ptr(offset) }
    }

    /// Links the segment after this one, once.
    ///
    /// # Safety
    /// The caller claimed the last slot and has not written it yet, which keeps the segment live.
    pub(super) unsafe fn link(self, next: Self) {
        // Ordering: Release pairs with the Acquire in `wait_next` and `has_next`, and shows the new
        // segment's initial state.
        let order =
            if cfg!(sateen_canary = "queue-next") { Ordering::Relaxed } else { Ordering::Release };
        // SAFETY: live by the contract.
        unsafe { self.header() }.next.store(next.as_ptr(), order);
    }

    /// The segment after this one, waited for.
    ///
    /// # Safety
    /// The caller claimed the last slot for reading and is not through with it: that keeps the
    /// segment live, and a producer is about to link the next one.
    pub(super) unsafe fn wait_next(self) -> Self {
        let mut backoff = Backoff::new();
        loop {
            // Ordering: Acquire pairs with the Release in `link`.
            // SAFETY: live by the contract.
            let next = unsafe { self.header() }.next.load(Ordering::Acquire);
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
        !unsafe { self.header() }.next.load(Ordering::Relaxed).is_null()
    }

    /// Fills a slot and lets its consumer have it.
    ///
    /// # Safety
    /// The caller claimed slot `offset` for writing, which keeps the segment live.
    pub(super) unsafe fn write(self, offset: usize, item: T) {
        // SAFETY: live by the contract; the claim excludes other writers, and readers wait for
        // `ready`.
        let slot = unsafe { self.slot(offset) };
        slot.item.with_mut(|place| {
            // SAFETY: as above.
            unsafe { (*place).write(item) };
        });
        let order =
            if cfg!(sateen_canary = "queue-ready") { Ordering::Relaxed } else { Ordering::Release };
        // Ordering: Release pairs with the Acquire in `read`, and shows the item.
        slot.ready.store(true, order);
    }

    /// Takes the item out of a slot, waiting for a producer that has claimed but not yet written
    /// it.
    ///
    /// # Safety
    /// The caller claimed slot `offset` for reading, reads it once, and has not called `leave` for
    /// it, which keeps the segment live.
    pub(super) unsafe fn read(self, offset: usize) -> T {
        // SAFETY: live by the contract.
        let slot = unsafe { self.slot(offset) };
        let mut backoff = Backoff::new();
        // Ordering: Acquire pairs with the Release in `write`.
        while !slot.ready.load(Ordering::Acquire) {
            backoff.snooze();
        }
        // SAFETY: `ready` says the item is there; the claim makes this the only read of it.
        slot.item.with(|place| unsafe { (*place).assume_init_read() })
    }

    /// Says that the caller is through with `slots` slots it claimed for reading; true if these
    /// were the last of the segment, which then is the caller's alone.
    ///
    /// # Safety
    /// The caller claimed that many slots, read them, and has not said so before.
    pub(super) unsafe fn leave(self, slots: usize) -> bool {
        let order =
            if cfg!(sateen_canary = "queue-left") { Ordering::Relaxed } else { Ordering::AcqRel };
        // Ordering: AcqRel, paired with itself: Release hands on our reads, Acquire makes the last
        // one wait for all others' before it frees or reuses the memory.
        // SAFETY: our slots are not counted yet, so the segment is live.
        let before = unsafe { self.header() }.left.fetch_add(slots as u32, order);
        before as usize + slots == Self::SLOTS
    }
}
