//! Segments of an unbounded queue that neither end stands in: one to be used again, and those in which somebody still
//! reads.
//!
//! Who may touch what: `spare` and `retired` anybody, by exchange; a retired segment's link whoever has taken the list.

use super::segment::Segment;
use crate::prim::{AtomicPtr, Ordering, const_except_loom};
use sateen_base::canary;
use std::marker::PhantomData;

/// Items go in and come out through shared references: neither a longer nor a shorter lifetime in `T` will do.
type Invariant<T> = fn(T) -> T;

pub(super) struct Depot<T> {
    /// A drained segment kept for the next crossing, or null.
    spare: AtomicPtr<u8>,
    /// The first of the segments that both ends have left while somebody was still reading a slot of theirs.
    retired: AtomicPtr<u8>,
    _items: PhantomData<(T, Invariant<T>)>,
}

impl<T> Depot<T> {
    const_except_loom! {
        /// An empty one.
        pub(super) const fn new() -> Self {
            Self {
                spare: AtomicPtr::new(std::ptr::null_mut()),
                retired: AtomicPtr::new(std::ptr::null_mut()),
                _items: PhantomData,
            }
        }
    }

    /// Uses `segment` again if everybody is through with it, or puts it on the list of those that will be looked
    /// at later, now that both ends have left it: the head by the caller, the tail by the producer of the
    /// last slot, which the caller has read. One caller a segment.
    #[cold]
    pub(super) fn retire_slow(&self, segment: Segment<T>) {
        let mut old = None;
        if !self.retired.load(Ordering::Relaxed).is_null() {
            let order =
                if canary!("queue-retired") { Ordering::Relaxed } else { Ordering::Acquire };
            // Ordering: Acquire pairs with the Release below, and shows the links. The list is ours then.
            old = Segment::from_ptr(self.retired.swap(std::ptr::null_mut(), order));
        }
        self.settle(segment);
        while let Some(segment) = old {
            // SAFETY: on the list that is ours, so it is live and its link is the list's.
            old = Segment::from_ptr(unsafe { segment.retired_next() }.load(Ordering::Relaxed));
            self.settle(segment);
        }
    }

    /// Uses `segment`, which the caller has retired or taken off the list, again, or puts it on the list.
    fn settle(&self, segment: Segment<T>) {
        // SAFETY: the caller's, so it is live and nobody else asks.
        unsafe {
            if segment.is_used_up() {
                return self.recycle(segment);
            }
        }
        let mut first = self.retired.load(Ordering::Relaxed);
        loop {
            // SAFETY: as above; the segment that followed it has been reached, so the link is free.
            unsafe { segment.retired_next() }.store(first, Ordering::Relaxed);
            // Ordering: Release pairs with the Acquire in `retire_slow`, and shows the link.
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            match self.retired.compare_exchange_weak(first, segment.as_ptr(), success, failure) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    /// Keeps an unused segment as the spare, or frees it if there is one.
    ///
    /// # Safety
    /// The segment is the caller's alone.
    #[cold]
    pub(super) unsafe fn recycle(&self, segment: Segment<T>) {
        // SAFETY: ours alone.
        unsafe { segment.assert_unused() };
        let kept = self.spare.load(Ordering::Relaxed);
        assert!(!cfg!(loom) || kept != segment.as_ptr(), "a segment has come back twice");
        // Ordering: Release pairs with the Acquire in `take`: our use of the segment comes
        // before its next one.
        let none = std::ptr::null_mut();
        let success = if canary!("queue-spare") { Ordering::Relaxed } else { Ordering::Release };
        let failure = Ordering::Relaxed;
        let kept = kept.is_null()
            && self.spare.compare_exchange(none, segment.as_ptr(), success, failure).is_ok();
        if !kept {
            // SAFETY: the caller's alone, and kept nowhere.
            unsafe { segment.free() };
        }
    }

    /// A segment as good as new.
    #[cold]
    pub(super) fn take(&self) -> Segment<T> {
        if !self.spare.load(Ordering::Relaxed).is_null() {
            // Ordering: Acquire pairs with the Release in `recycle`.
            let spare = self.spare.swap(std::ptr::null_mut(), Ordering::Acquire);
            if let Some(segment) = Segment::from_ptr(spare) {
                // SAFETY: the exchange gave it to us alone.
                unsafe { segment.reset() };
                return segment;
            }
        }
        Segment::new()
    }

    /// Frees all that is here, with the queue.
    ///
    /// # Safety
    /// Nobody else uses the queue, now or later.
    pub(super) unsafe fn free(&self) {
        let spare = Segment::<T>::from_ptr(self.spare.load(Ordering::Relaxed));
        let mut old = Segment::<T>::from_ptr(self.retired.load(Ordering::Relaxed));
        // SAFETY: all of them are ours by the contract; the spare is on no list.
        unsafe {
            if let Some(spare) = spare {
                spare.free();
            }
            while let Some(segment) = old {
                old = Segment::from_ptr(segment.retired_next().load(Ordering::Relaxed));
                segment.free();
            }
        }
    }
}
