//! On which cores workers work.
//!
//! A system may wake a worker on the very core of the worker that woke it, though others are free
//! ([`os::misplaces_threads`]). The woken one would preempt the other, take half of its work, and
//! the two would have one core. So it first moves: to the core where it slept, to the one where the
//! other slept, or to any on which no worker works. That last one is often the core of a caller
//! from outside, which has just begun a call and is about to sleep.
//!
//! A worker that searches does not sleep, but gives way all the time. The system rarely moves a
//! thread that ran a moment ago, so two workers may keep one core for long. A worker that was away
//! for long when it gave way therefore moves as well.
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

/// A core on which no worker works, at best one of `slept`, where they have slept.
fn free_core(slept: [usize; 2], cores: usize, is_taken: impl Fn(usize) -> bool) -> Option<usize> {
    slept.into_iter().chain(0..cores).find(|&core| core != NONE && !is_taken(core))
}

impl Owner {
    /// Moves the calling worker, which was woken or waited for its core, if another works on that
    /// core and one is free.
    #[cold]
    pub(crate) fn make_room(&self) {
        let here = here();
        let others =
            || self.shared().workers.iter().filter(|worker| worker.index() != self.index());
        let places = || others().map(|worker| &worker.place);
        let Some(other) = places().find(|place| place.is_at(here)) else { return };
        let is_taken = |core| places().any(|place| place.is_at(core));
        let slept = [self.place.slept_at(), other.slept_at()];
        let free = free_core(slept, self.shared().sleep.cores(), is_taken);
        if free.is_some_and(os::move_to_core) {
            self.counters.moves.bump();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_core_where_a_worker_slept_comes_first() {
        assert_eq!(free_core([2, 1], 4, |core| core == 0), Some(2));
        assert_eq!(free_core([0, 1], 4, |core| core == 0), Some(1));
        assert_eq!(free_core([0, NONE], 4, |core| core <= 1), Some(2), "nobody slept there");
        assert_eq!(free_core([0, 0], 2, |_| true), None);
    }
}
