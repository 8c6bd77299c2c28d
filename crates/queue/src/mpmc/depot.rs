//! Segments of an unbounded queue that neither end stands in: a few spare ones, and those in which
//! a thread still reads.
//!
//! Access rules: `retired` and each of `spares`, any thread, by exchange; a retired segment's link,
//! the thread that has taken the list.
//!
//! Consumers give segments back and producers take them. With one spare, every second of them came
//! from the allocator and went back to it, from two threads: they then wait for each other in its
//! locks. With eight that still happened whenever a consumer caught up.

use super::segment::Segment;
use crate::prim::{AtomicPtr, Ordering, const_except_loom};
use sateen_base::canary;
use std::marker::PhantomData;

/// Items go in and come out through shared references, so the lifetimes in `T` must not vary.
type Invariant<T> = fn(T) -> T;

/// Places for spare segments.
const PLACES: usize = if cfg!(loom) { 1 } else { 32 };

/// The most spare segments: 64 KiB of them, but eight at least.
const fn most_spares<T>() -> usize {
    let fit = (64 << 10) / Segment::<T>::BYTES;
    if cfg!(loom) || fit > PLACES {
        PLACES
    } else if fit < 8 {
        8
    } else {
        fit
    }
}

pub(super) struct Depot<T> {
    /// Drained segments kept for the next crossings, or null.
    spares: [AtomicPtr<u8>; PLACES],
    /// The first of the segments that both ends left while a thread was still reading one of their
    /// slots.
    retired: AtomicPtr<u8>,
    _items: PhantomData<(T, Invariant<T>)>,
}

impl<T> Depot<T> {
    const_except_loom! {
        /// An empty depot.
        pub(super) const fn new() -> Self {
            Self {
                #[cfg(not(loom))]
                spares: [const { AtomicPtr::new(std::ptr::null_mut()) }; PLACES],
                #[cfg(loom)]
                spares: [AtomicPtr::new(std::ptr::null_mut())],
                retired: AtomicPtr::new(std::ptr::null_mut()),
                _items: PhantomData,
            }
        }
    }

    /// Recycles `segment` if all threads are through with it; otherwise puts it on the list, to be
    /// looked at later. Both ends have left it: the caller moved the head, and the producer of the
    /// last slot, which the caller has read, the tail. Each segment has one such caller.
    #[cold]
    pub(super) fn retire_slow(&self, segment: Segment<T>) {
        let mut old = None;
        if !self.retired.load(Ordering::Relaxed).is_null() {
            let order =
                if canary!("queue-retired") { Ordering::Relaxed } else { Ordering::Acquire };
            // Ordering: Acquire pairs with the Release below, and shows the links. The list is then
            // this thread's.
            old = Segment::from_ptr(self.retired.swap(std::ptr::null_mut(), order));
        }
        self.recycle_or_retire(segment);
        while let Some(segment) = old {
            // SAFETY: on the list that this thread took, so it is live and its link is the list's.
            old = Segment::from_ptr(unsafe { segment.retired_next() }.load(Ordering::Relaxed));
            self.recycle_or_retire(segment);
        }
    }

    /// Recycles `segment`, which the caller has retired or taken off the list, or puts it on the
    /// list.
    fn recycle_or_retire(&self, segment: Segment<T>) {
        // SAFETY: the caller's, so it is live and no other thread asks.
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

    /// Keeps an unused segment as a spare, or frees it if there are enough.
    ///
    /// # Safety
    /// The segment is the caller's alone.
    #[cold]
    pub(super) unsafe fn recycle(&self, segment: Segment<T>) {
        // SAFETY: the caller's alone.
        unsafe { segment.assert_unused() };
        // Ordering: Release pairs with the Acquire in `take`: this use of the segment comes before
        // its next one.
        let success = if canary!("queue-spare") { Ordering::Relaxed } else { Ordering::Release };
        let kept = self.spares[..most_spares::<T>()].iter().any(|spare| {
            let there = spare.load(Ordering::Relaxed);
            assert!(!cfg!(loom) || there != segment.as_ptr(), "a segment has come back twice");
            there.is_null()
                && spare
                    .compare_exchange(there, segment.as_ptr(), success, Ordering::Relaxed)
                    .is_ok()
        });
        if !kept {
            // SAFETY: the caller's alone, and kept nowhere.
            unsafe { segment.free() };
        }
    }

    /// A segment as good as new.
    #[cold]
    pub(super) fn take(&self) -> Segment<T> {
        let spares = &self.spares[..most_spares::<T>()];
        for spare in spares.iter().filter(|spare| !spare.load(Ordering::Relaxed).is_null()) {
            // Ordering: Acquire pairs with the Release in `recycle`.
            let taken = spare.swap(std::ptr::null_mut(), Ordering::Acquire);
            if let Some(segment) = Segment::from_ptr(taken) {
                // SAFETY: the exchange gave it to this thread alone.
                unsafe { segment.reset() };
                return segment;
            }
        }
        Segment::new()
    }

    /// Frees all segments here, with the queue.
    ///
    /// # Safety
    /// No other thread uses the queue, now or later.
    pub(super) unsafe fn free(&self) {
        let spares = self.spares.iter().map(|spare| spare.load(Ordering::Relaxed));
        let mut old = Segment::<T>::from_ptr(self.retired.load(Ordering::Relaxed));
        // SAFETY: all of them are the caller's by the contract; the spares are on no list.
        unsafe {
            spares.filter_map(Segment::<T>::from_ptr).for_each(|spare| spare.free());
            while let Some(segment) = old {
                old = Segment::from_ptr(segment.retired_next().load(Ordering::Relaxed));
                segment.free();
            }
        }
    }
}
