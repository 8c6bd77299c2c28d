//! A thread whose own stack holds a fiber's frames.
//!
//! The fiber is never suspended, because no other stack could run on the thread: all its waits keep
//! the thread. The workers of a strict runtime are such threads, and so is a resident worker
//! (`resident.rs`).

use crate::fiber::Fiber;
use crate::join_stack::Slot;
use crate::stack::{BYTES_PER_SLOT, MAX_STACK};
use sateen_base::os::{self, Mapping, StackGuard};
use std::io;
use std::ops::Range;

/// If the system does not report the stack's size, join slots are reserved for this many bytes of
/// stack. A guard follows the slots.
const UNKNOWN: usize = 64 << 20;

/// A thread's stack, with join slots for the jobs that fit in it.
pub(crate) struct OwnStack {
    /// The stack's addresses, if the system reports them.
    place: Option<Range<usize>>,
    /// The slots, then a guard. (The stack of a process's first thread may have no limit.)
    slots: Mapping,
    /// There is a slot for each job that fits in this many bytes.
    covered: usize,
}

impl OwnStack {
    /// Reserves slots for a thread whose stack has about `size` bytes.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn reserve(size: usize) -> io::Result<Self> {
        let covered = size.min(MAX_STACK);
        let room = (covered / BYTES_PER_SLOT * size_of::<Slot>()).next_multiple_of(Mapping::PAGE);
        let slots = Mapping::reserve(room + Mapping::PAGE)?;
        // SAFETY: nothing uses the new memory.
        unsafe { slots.guard(room, Mapping::PAGE, StackGuard::default())? };
        Ok(Self { place: None, slots, covered })
    }

    /// Reserves slots for the calling thread.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn prepare() -> io::Result<Self> {
        let place = os::thread_stack();
        let size = place.as_ref().map_or(UNKNOWN, Range::len);
        Ok(Self { place, ..Self::reserve(size)? })
    }

    /// Fits the slots to the calling thread. If there is no memory for more slots than were
    /// reserved, nested work that is too deep for them ends the process at their guard.
    pub(crate) fn of_this_thread(self) -> Self {
        let place = os::thread_stack();
        let size = place.as_ref().map_or(UNKNOWN, Range::len);
        let larger = (size > self.covered).then(|| Self::reserve(size).ok()).flatten();
        Self { place, ..larger.unwrap_or(self) }
    }

    /// Whether the system reports where the stack lies.
    pub(crate) fn is_known(&self) -> bool {
        self.place.is_some()
    }

    /// Gives the stack to `fiber`, whose frames are here from now on. If the system does not report
    /// the stack's size, the fiber may use `size` bytes.
    ///
    /// # Safety
    /// The caller is on the thread and owns the fiber, whose join stack is empty. `self` outlives
    /// what runs on the fiber.
    pub(crate) unsafe fn give_to(&self, fiber: &Fiber, size: usize) {
        let here = 0u8;
        let here = std::ptr::from_ref(&here).addr();
        let size = self.place.as_ref().map_or(size, |place| here.saturating_sub(place.start));
        fiber.record().place_thread(here, size);
        // SAFETY: by contract. There is a slot for each job that fits in the thread's frames;
        // behind them is a guard.
        unsafe { fiber.join_stack().move_to(self.slots.base().as_ptr().cast()) };
    }
}
