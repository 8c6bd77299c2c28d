//! An end of the queue.

use crate::mpmc::cursor::Cursor;
use crate::mpmc::segment::Segment;
use crate::prim::{AtomicPtr, AtomicU64, Ordering};

/// Where an end stood, and its segment.
pub(super) type Seen = (Cursor, *mut u8);

/// One end: where it stands, and the segment that its position lies in.
///
/// `segment` changes only while `cursor` stands at the nameless offset; the store that moves
/// `cursor` on publishes it. So a thread whose exchange of `cursor` succeeds also has the right
/// segment. Null until the first push.
pub(super) struct End {
    pub(super) cursor: AtomicU64,
    pub(super) segment: AtomicPtr<u8>,
}

impl End {
    #[inline(always)]
    pub(super) fn load(&self) -> Seen {
        // Ordering: Acquire pairs with the Release in `move_on`, through the exchanges that
        // followed it. A thread that sees a position sees its segment, or a later one, and then its
        // exchange fails.
        let cursor = Cursor(self.cursor.load(Ordering::Acquire));
        (cursor, self.segment.load(Ordering::Relaxed))
    }

    /// Claims the slots from `from` up to `to`.
    #[inline(always)]
    pub(super) fn claim(&self, from: Cursor, to: Cursor) -> bool {
        // Ordering: SeqCst so that claims and the emptiness test of `Unbounded::look` have one
        // order; the claim itself needs only the Acquire of `load`.
        let order = Ordering::SeqCst;
        self.cursor.compare_exchange_weak(from.0, to.0, order, Ordering::Relaxed).is_ok()
    }

    /// Ends the stay at the nameless offset.
    pub(super) fn move_on<T>(&self, to: Cursor, segment: Segment<T>) {
        // Ordering: Release pairs with the Acquire in `load`; it shows the segment and its
        // contents.
        self.segment.store(segment.as_ptr(), Ordering::Relaxed);
        self.cursor.store(to.0, Ordering::Release);
    }
}
