//! Chunk sizes that a thread has learned from its last loops, by source location.

use std::cell::Cell;

/// Sites that a thread remembers. Colliding sites evict each other; an evicted loop starts with the
/// default chunk.
const SLOTS: usize = 8;

thread_local! {
    static LEARNED: [Cell<(Site, usize)>; SLOTS] =
        const { [const { Cell::new((Site(0), 1)) }; SLOTS] };
}

/// A source location where loops begin. Different closure types mean different sites.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Site(usize);

impl Site {
    /// The site whose loops run their halves by `run`, a function for each type. (Types have no
    /// identity of their own here. Two types with the same code may share a function.)
    #[inline]
    pub(super) fn of(run: unsafe fn(*mut ())) -> Self {
        Self(run as usize)
    }

    #[inline]
    fn with_slot<R>(self, f: impl FnOnce(&Cell<(Self, usize)>) -> R) -> R {
        // Functions begin at multiples of 16.
        LEARNED.with(|slots| f(&slots[(self.0 >> 4) % SLOTS]))
    }

    /// The chunk size of the last loop here; 1 if there was none.
    #[inline]
    pub(super) fn chunk(self) -> usize {
        self.with_slot(|slot| match slot.get() {
            (site, chunk) if site == self => chunk,
            _ => 1,
        })
    }

    #[inline]
    pub(super) fn set_chunk(self, chunk: usize) {
        self.with_slot(|slot| slot.set((self, chunk)));
    }
}
