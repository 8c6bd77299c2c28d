//! What the pieces of a loop tell each other: in searches, and in adapters that end it early.
//!
//! None of them guards memory, so all accesses are relaxed. Most are hints: a piece that learns
//! late does work that nobody needs. [`Tickets`] are exact, because each is taken in one atomic
//! step. What is read after the loop is ordered by the joins of its pieces. `par_bridge` reads its
//! flag under a lock.

use sateen_base::prim::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Raised once; never lowered.
pub(crate) struct Flag(AtomicBool);

impl Flag {
    pub(crate) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    #[inline]
    pub(crate) fn raise(&self) {
        self.0.store(true, Relaxed);
    }

    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Raises the flag when it is dropped, as in a panic.
pub(crate) struct Armed<'f>(pub(crate) &'f Flag);

impl Armed<'_> {
    #[inline]
    pub(crate) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// The largest position that anybody has told.
pub(crate) struct Furthest(AtomicUsize);

impl Furthest {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    #[inline]
    pub(crate) fn tell(&self, position: usize) {
        self.0.fetch_max(position, Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self) -> usize {
        self.0.load(Relaxed)
    }
}

/// A number of tickets. Each is given away once.
pub(crate) struct Tickets(AtomicUsize);

impl Tickets {
    pub(crate) fn new(count: usize) -> Self {
        Self(AtomicUsize::new(count))
    }

    /// Takes a ticket; false if none are left.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        // A plain decrement could pass zero.
        !self.is_empty() && self.0.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_ok()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}
