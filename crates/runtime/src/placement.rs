//! On which cores workers work.
//!
//! A system may wake a worker on the very core of the worker that woke it, though others are free
//! ([`os::misplaces_threads`]). The woken one would preempt the other, take half of its work, and
//! the two would have one core. So it first moves: to the core where it slept, or to the one where
//! the other slept.
//!
//! All of it are hints. A wrong one costs a move for nothing, or none where one would have helped.

use crate::worker::Owner;
use sateen_base::os;
use sateen_base::prim::{AtomicUsize, Ordering};

const NONE: usize = usize::MAX;

/// A worker's core. The worker writes; the others read.
#[derive(Debug)]
pub(crate) struct Place {
    /// Where it works, while it does.
    at: AtomicUsize,
    /// Where it slept last.
    slept_at: AtomicUsize,
}

impl Default for Place {
    fn default() -> Self {
        Self { at: AtomicUsize::new(NONE), slept_at: AtomicUsize::new(NONE) }
    }
}

// Ordering: Relaxed in all of them, hints.
impl Place {
    /// The calling worker begins to work, or is about to wake another.
    pub(crate) fn works(&self) {
        self.at.store(here(), Ordering::Relaxed);
    }

    /// The calling worker is about to sleep.
    pub(crate) fn sleeps(&self) {
        self.at.store(NONE, Ordering::Relaxed);
        self.slept_at.store(here(), Ordering::Relaxed);
    }

    fn is_at(&self, core: usize) -> bool {
        self.at.load(Ordering::Relaxed) == core
    }

    fn slept_at(&self) -> usize {
        self.slept_at.load(Ordering::Relaxed)
    }
}

fn here() -> usize {
    os::current_core().unwrap_or(NONE)
}

impl Owner {
    /// Moves the calling worker, which was woken, if another works on its core and a core is free.
    #[cold]
    pub(crate) fn make_room(&self) {
        let here = here();
        let places = || self.shared().workers.iter().map(|worker| &worker.place);
        let Some(other) = places().find(|place| place.is_at(here)) else { return };
        let is_free = |core: &usize| *core != NONE && !places().any(|place| place.is_at(*core));
        let free = [self.place.slept_at(), other.slept_at()].into_iter().find(is_free);
        if free.is_some_and(os::move_to_core) {
            self.counters.moves.bump();
        }
    }
}
