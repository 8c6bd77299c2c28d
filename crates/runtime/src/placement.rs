//! CPU placement of workers.
//!
//! The kernel may wake a worker on the core of its waker while other cores are free
//! ([`os::misplaces_threads`]). The woken worker would preempt its waker and take half of its work,
//! and the two would share one core. So it first moves: to the core where it slept, to the one
//! where its waker slept, or to any core without a worker. The last is often the core of a caller
//! from outside, who has just begun a call and is about to sleep.
//!
//! A worker that searches does not sleep, but yields often. The kernel rarely moves a thread that
//! ran a moment ago, so two workers may share a core for long. So a worker also moves if a yield
//! took it long.
//!
//! Placement is a hint: a wrong guess costs one migration, or misses one.

use crate::worker::Owner;
use sateen_base::os;
use sateen_base::prim::{AtomicUsize, Ordering};

const NONE: usize = usize::MAX;

/// A worker's core. Written by the worker, read by others.
#[derive(Debug)]
pub(crate) struct Place {
    /// Where it runs, while it works.
    at: AtomicUsize,
    /// Where it last slept.
    slept_at: AtomicUsize,
}

impl Default for Place {
    fn default() -> Self {
        Self { at: AtomicUsize::new(NONE), slept_at: AtomicUsize::new(NONE) }
    }
}

// Ordering: Relaxed in all of them, hints.
impl Place {
    /// Called when the worker begins to work, or is about to wake another.
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

/// A core on which no worker runs, preferably one of `slept`, where they slept.
fn free_core(slept: [usize; 2], cores: usize, is_taken: impl Fn(usize) -> bool) -> Option<usize> {
    slept.into_iter().chain(0..cores).find(|&core| core != NONE && !is_taken(core))
}

impl Owner {
    /// Moves the calling worker, which was woken or waited for its core, to a free core if another
    /// worker runs on its own.
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
