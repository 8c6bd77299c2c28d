//! The workers of a runtime: the regular ones, and those of substitutes that have been needed.
//!
//! A strict runtime may have a thousand substitutes. So a substitute's worker is made when it is
//! first needed, and loops over all workers go over those that may have been made: the first ones.
//!
//! A thread that looks at all workers may miss one that is being made. It is a worker that is about
//! to sleep or to watch, and so it announces that, fences fully, and then looks at `born`. The
//! maker raises `born`, fences fully, and starts the thread. So the look sees the new worker, or
//! the new worker's thread sees what was announced. What a look asks of all workers, a new one is
//! born with: it answers a request at its first push.

use crate::policy::WorkerPolicy;
use crate::worker::{HUNGRY, WorkerCell};
use sateen_base::prim::{AtomicUsize, Ordering, fence};
use std::sync::OnceLock;

/// Makes the policy of one more worker.
pub(crate) type MakePolicy = Box<dyn Fn() -> WorkerPolicy + Send + Sync>;

/// See the [module's documentation](self).
pub(crate) struct Cells {
    regular: Box<[WorkerCell]>,
    substitutes: Box<[OnceLock<Box<WorkerCell>>]>,
    /// How many substitutes may have been made: the first ones.
    born: AtomicUsize,
    make: Option<MakePolicy>,
}

impl Cells {
    /// A regular worker for each of `policies`. `substitutes` more may be made.
    pub(crate) fn new(
        policies: Vec<WorkerPolicy>,
        substitutes: usize,
        make: Option<MakePolicy>,
    ) -> Self {
        let cell = |(index, policy)| WorkerCell::new(index, policy);
        Self {
            regular: policies.into_iter().enumerate().map(cell).collect(),
            substitutes: (0..substitutes).map(|_| OnceLock::new()).collect(),
            born: AtomicUsize::new(0),
            make,
        }
    }

    pub(crate) fn regular(&self) -> &[WorkerCell] {
        &self.regular
    }

    /// How many there can be.
    pub(crate) fn possible(&self) -> usize {
        self.regular.len() + self.substitutes.len()
    }

    /// More than each index of a worker that has been made.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.regular.len() + self.born()
    }

    fn born(&self) -> usize {
        // Ordering: Acquire pairs with the Release in `make`; see the module's documentation for
        // those who must not miss a worker.
        self.born.load(Ordering::Acquire)
    }

    /// Worker `index`, if it has been made.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&WorkerCell> {
        match self.regular.get(index) {
            None => self.get_substitute(index),
            regular => regular,
        }
    }

    #[cold]
    fn get_substitute(&self, index: usize) -> Option<&WorkerCell> {
        self.substitutes.get(index - self.regular.len())?.get().map(|cell| &**cell)
    }

    /// Those that have been made.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &WorkerCell> {
        let substitutes = self.substitutes[..self.born()].iter();
        self.regular.iter().chain(substitutes.filter_map(|cell| cell.get().map(|cell| &**cell)))
    }

    /// Substitute `slot` is about to be started. The caller alone starts it, and holds no lock.
    pub(crate) fn make(&self, slot: usize) {
        if let (None, Some(policy)) = (self.substitutes[slot].get(), &self.make) {
            let cell = Box::new(WorkerCell::new(self.regular.len() + slot, policy()));
            cell.insist(HUNGRY);
            _ = self.substitutes[slot].set(cell);
        }
        // Ordering: Release, see `born`.
        self.born.fetch_max(slot + 1, Ordering::Release);
        // Partner: the fence after each announcement. See the module's documentation.
        fence(Ordering::SeqCst);
    }
}

impl std::ops::Index<usize> for Cells {
    type Output = WorkerCell;

    #[inline]
    fn index(&self, index: usize) -> &WorkerCell {
        match self.get(index) {
            Some(worker) => worker,
            None => sateen_base::abort_with("looked at a worker that does not exist"),
        }
    }
}
