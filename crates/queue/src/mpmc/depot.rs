//! Segments of an unbounded queue that neither end stands in: a few spare ones, and those in which
//! a thread still reads.
//!
//! Access rules: `retired` and each of `spares`, any thread, by exchange; `look_after`, any thread,
//! a hint; a retired segment's link, the thread that has taken the list.
//!
//! Consumers give segments back and producers take them. With one spare, every second of them came
//! from the allocator and went back to it, from two threads: they then wait for each other in its
//! locks. With eight that still happened whenever a consumer caught up.

use super::segment::Segment;
use crate::prim::{AtomicPtr, AtomicUsize, Ordering, const_except_loom};
use std::marker::PhantomData;
use std::ptr;

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

/// Retired segments that a look may find held without being put off.
const FEW: usize = 4;

/// How many segments are retired without a look after one that found `held` of them in use.
///
/// A forgotten batch holds its segment for ever. So a long list is looked through seldom: one look
/// at a segment for eight that are retired, however many are held.
const fn looks_skipped(held: usize) -> usize {
    if held <= FEW { 0 } else { 8 * held }
}

pub(super) struct Depot<T> {
    /// Drained segments kept for the next crossings, or null.
    spares: [AtomicPtr<u8>; PLACES],
    /// The first of the segments that both ends left while a thread was still reading one of their
    /// slots.
    retired: AtomicPtr<u8>,
    /// How many more segments are retired before a thread looks through that list.
    look_after: AtomicUsize,
    _items: PhantomData<(T, Invariant<T>)>,
}

impl<T> Depot<T> {
    const_except_loom! {
        /// An empty depot.
        pub(super) const fn new() -> Self {
            Self {
                #[cfg(not(loom))]
                spares: [const { AtomicPtr::new(ptr::null_mut()) }; PLACES],
                #[cfg(loom)]
                spares: [AtomicPtr::new(ptr::null_mut())],
                retired: AtomicPtr::new(ptr::null_mut()),
                look_after: AtomicUsize::new(0),
                _items: PhantomData,
            }
        }
    }

    /// Recycles `segment` if all threads are through with it; otherwise puts it on the list, to be
    /// looked at later. Both ends have left it: the caller moved the head, and the producer of the
    /// last slot, which the caller has read, the tail. Each segment has one such caller.
    #[cold]
    pub(super) fn retire_slow(&self, segment: Segment<T>) {
        // Relaxed: a count that guards nothing. A race only moves the next look.
        let wait = self.look_after.load(Ordering::Relaxed);
        let mut old = ptr::null_mut();
        if wait == 0 && !self.retired.load(Ordering::Relaxed).is_null() {
            // Ordering: Acquire pairs with the Release in `put_back`, and shows the links. The list
            // is then this thread's.
            old = self.retired.swap(ptr::null_mut(), Ordering::Acquire);
        }
        // SAFETY: the caller's, so it is live; the segment that followed it has been reached, so
        // the link is free.
        unsafe { segment.retired_next() }.store(old, Ordering::Relaxed);
        let held = self.recycle_all(segment);
        let next_wait = if wait > 0 { wait - 1 } else { looks_skipped(held) };
        if next_wait != wait {
            self.look_after.store(next_wait, Ordering::Relaxed);
        }
    }

    /// Recycles the segments that all threads are through with, from `first` on, and puts the
    /// others back. Returns how many those are.
    fn recycle_all(&self, first: Segment<T>) -> usize {
        let mut held: Option<(Segment<T>, Segment<T>)> = None;
        let mut count = 0;
        let mut at = Some(first);
        while let Some(segment) = at {
            // SAFETY: retired by the caller, or on the list that this thread took: it is live, its
            // link is this thread's, and no other thread asks.
            let used_up = unsafe {
                at = Segment::from_ptr(segment.retired_next().load(Ordering::Relaxed));
                segment.is_used_up()
            };
            if used_up {
                // SAFETY: used up, so it is this thread's alone.
                unsafe { self.recycle(segment) };
                continue;
            }
            let next = held.map_or(ptr::null_mut(), |(first, _)| first.as_ptr());
            // SAFETY: as above; what followed it is in `at`.
            unsafe { segment.retired_next() }.store(next, Ordering::Relaxed);
            held = Some((segment, held.map_or(segment, |(_, last)| last)));
            count += 1;
        }
        if let Some((first, last)) = held {
            self.put_back(first, last);
        }
        count
    }

    /// Puts the segments from `first` to `last`, which are linked and this thread's, on the list.
    fn put_back(&self, first: Segment<T>, last: Segment<T>) {
        let mut next = self.retired.load(Ordering::Relaxed);
        loop {
            // SAFETY: this thread's, so it is live, and its link is not in use.
            unsafe { last.retired_next() }.store(next, Ordering::Relaxed);
            // Ordering: Release pairs with the Acquire in `retire_slow`, and shows the links.
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            match self.retired.compare_exchange_weak(next, first.as_ptr(), success, failure) {
                Ok(_) => return,
                Err(now) => next = now,
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
        let kept = self.spares[..most_spares::<T>()].iter().any(|spare| {
            let there = spare.load(Ordering::Relaxed);
            assert!(!cfg!(loom) || there != segment.as_ptr(), "a segment has come back twice");
            there.is_null()
                && spare
                    .compare_exchange(there, segment.as_ptr(), Ordering::Release, Ordering::Relaxed)
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
            let taken = spare.swap(ptr::null_mut(), Ordering::Acquire);
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
