//! What a thread has learned from its last loops, by the places in the source that began them.

use std::cell::Cell;

/// How many places a thread remembers. Two in one slot take turns, and a loop that finds the other
/// there begins as if it were the first.
const SLOTS: usize = 8;

thread_local! {
    static LEARNED: [Cell<(Site, usize)>; SLOTS] =
        const { [const { Cell::new((Site(0), 1)) }; SLOTS] };
}

/// A place in the source where a loop begins. The types of its closures tell places apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Site(usize);

impl Site {
    /// The place whose loops run their halves by `run`, a function for each type. (A type has no
    /// number of its own. Two types whose code is the same may share a function.)
    #[inline]
    pub(super) fn of(run: unsafe fn(*mut ())) -> Self {
        Self(run as usize)
    }

    #[inline]
    fn with_slot<R>(self, f: impl FnOnce(&Cell<(Self, usize)>) -> R) -> R {
        // Functions begin at multiples of 16.
        LEARNED.with(|slots| f(&slots[(self.0 >> 4) % SLOTS]))
    }

    /// The chunk that the last loop here has arrived at; 1 if there was none.
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
