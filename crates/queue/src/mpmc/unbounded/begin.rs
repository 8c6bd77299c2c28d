//! How a queue begins. The first push makes its first segment, so that a queue can be a `static`.

use super::{End, Head, Unbounded};
use crate::mpmc::cursor::{Cursor, lap};
use crate::mpmc::depot::Depot;
use crate::mpmc::segment::Segment;
use crate::prim::{AtomicPtr, AtomicU64, Ordering, const_except_loom};
use crate::spin_limit::SpinLimit;
use crate::trace::Traced;
use sateen_base::CachePadded;
use std::ptr;

impl<T> Unbounded<T> {
    /// A queue whose positions start at `position`, for tests near the wrap-around.
    #[doc(hidden)]
    pub fn starting_at(position: u64) -> Self {
        let cursor = Cursor::at(position);
        let offset = cursor.offset::<T>();
        assert!(offset < Segment::<T>::SLOTS, "position {position} names no slot");
        let segment = Segment::<T>::new();
        if offset > 0 {
            // Otherwise the first segment would never be used up.
            // SAFETY: no other thread knows of the segment.
            unsafe { segment.skip(offset) };
        }
        Self::with(cursor, segment.as_ptr())
    }

    const_except_loom! {
        /// Both ends at `start`, and the segment that it lies in.
        pub(super) const fn with(start: Cursor, segment: *mut u8) -> Self {
            let position = start.position();
            Self {
                head: CachePadded::new(Head {
                    end: End { cursor: AtomicU64::new(start.0), segment: AtomicPtr::new(segment) },
                    tail_seen: AtomicU64::new(position),
                    spin_limit: SpinLimit::new(position, 256),
                }),
                tail: CachePadded::new(End {
                    cursor: AtomicU64::new(start.0),
                    segment: AtomicPtr::new(segment),
                }),
                depot: Depot::new(),
                traced: Traced::NO,
            }
        }
    }

    /// Makes the first segment and moves both ends on to it; false if another thread does.
    #[cold]
    pub(super) fn begin_slow(&self) -> bool {
        let segment = Segment::<T>::new();
        // Relaxed: no thread uses the segment before an end's cursor shows it.
        let order = Ordering::Relaxed;
        let word = &self.tail.segment;
        let ours = word.compare_exchange(ptr::null_mut(), segment.as_ptr(), order, order).is_ok();
        if ours {
            // The tail first: the head never passes it.
            let start = Cursor::at(lap::<T>());
            self.tail.move_on(start, segment);
            self.head.end.move_on(start, segment);
        } else {
            // SAFETY: no other thread knows of it.
            unsafe { self.depot.recycle(segment) };
        }
        ours
    }
}
