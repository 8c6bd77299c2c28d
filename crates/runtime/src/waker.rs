//! Wakers of fibers. Each holds a count of its fiber, as in an `Arc`.
//!
//! A count released on the fiber's own worker is kept for the fiber's next waker. So creating and
//! using a waker there needs no locked instruction. Kept counts are dropped with the runtime.

use crate::fiber::Fiber;
use crate::latch::Waiter;
use crate::shared::Shared;
use sateen_base::prim::{Arc, AtomicU32, Ordering};
use std::task::{RawWaker, RawWakerVTable, Waker};

/// The most counts that a fiber keeps.
const MOST: u32 = 4;

/// Counts without a waker. Only the fiber's worker writes it.
#[derive(Debug)]
pub(crate) struct Kept(AtomicU32);

impl Kept {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The number of kept counts. Exact on the fiber's worker, or when that has ended.
    pub(crate) fn count(&self) -> usize {
        // Ordering: Relaxed here and below; one thread writes, and others only read for reports.
        self.0.load(Ordering::Relaxed) as usize
    }

    #[inline]
    fn take(&self) -> bool {
        let kept = self.0.load(Ordering::Relaxed);
        if kept > 0 {
            self.0.store(kept - 1, Ordering::Relaxed);
        }
        kept > 0
    }

    #[inline]
    fn keep(&self) -> bool {
        let kept = self.0.load(Ordering::Relaxed);
        if kept < MOST {
            self.0.store(kept + 1, Ordering::Relaxed);
        }
        kept < MOST
    }

    /// Drops all kept counts. The fiber's worker has ended.
    pub(crate) fn give_back(fiber: &Arc<Fiber>) {
        while fiber.kept().take() {
            // SAFETY: a kept count once belonged to a waker.
            unsafe { Arc::decrement_strong_count(Arc::as_ptr(fiber)) };
        }
    }
}

static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, release);

/// Whether it wakes a fiber of this runtime.
#[inline]
pub(crate) fn is_of(waker: &Waker, shared: &Shared) -> bool {
    // SAFETY: a waker with this table holds a count of its fiber.
    std::ptr::eq(waker.vtable(), &TABLE) && unsafe { (*waker.data().cast::<Fiber>()).is_of(shared) }
}

/// A waker for the calling fiber.
#[inline]
pub(crate) fn of(fiber: &Fiber) -> Waker {
    let count = match fiber.kept().take() {
        true => fiber.address(),
        false => Arc::into_raw(fiber.to_arc()),
    };
    // SAFETY: the table's functions treat the pointer as one count of the fiber.
    unsafe { Waker::from_raw(RawWaker::new(count.cast(), &TABLE)) }
}

/// # Safety
/// For all four functions: `fiber` comes with the count of the waker that is used.
unsafe fn clone(fiber: *const ()) -> RawWaker {
    let fiber = fiber.cast::<Fiber>();
    // SAFETY: by contract.
    unsafe {
        if !((*fiber).is_at_home() && (*fiber).kept().take()) {
            Arc::increment_strong_count(fiber);
        }
    }
    RawWaker::new(fiber.cast(), &TABLE)
}

unsafe fn wake(fiber: *const ()) {
    // SAFETY: by contract; the count is dropped at the end.
    unsafe {
        wake_by_ref(fiber);
        release(fiber);
    }
}

unsafe fn wake_by_ref(fiber: *const ()) {
    // SAFETY: by contract.
    unsafe { (*fiber.cast::<Fiber>()).unpark() };
}

unsafe fn release(fiber: *const ()) {
    let fiber = fiber.cast::<Fiber>();
    // SAFETY: by contract; given away here, or kept.
    unsafe {
        if !((*fiber).is_at_home() && (*fiber).kept().keep()) {
            Arc::decrement_strong_count(fiber);
        }
    }
}
