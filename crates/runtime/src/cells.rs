//! The workers of a runtime: the regular ones, and the substitutes created so far.
//!
//! A strict runtime may have a thousand substitutes. So a substitute's worker is created when first
//! needed, and loops over all workers stop at the last one created.
//!
//! A loop over all workers may miss one that is being created. This is safe for a worker that is
//! about to sleep or to watch timers. It announces itself, issues a full fence, and then reads
//! `born`. The creator raises `born`, issues a full fence, and starts the thread. So the loop sees
//! the new worker, or the new worker's thread sees the announcement. A new worker starts with all
//! requests raised that such a loop raises, so it answers at its first push.

use crate::policy::WorkerPolicy;
use crate::worker::{HUNGRY, WorkerCell};
use sateen_base::prim::{AtomicUsize, Ordering, fence};
use std::sync::OnceLock;

/// Creates the policy of one more worker.
pub(crate) type MakePolicy = Box<dyn Fn() -> WorkerPolicy + Send + Sync>;

/// See the [module's documentation](self).
pub(crate) struct Cells {
    regular: Box<[WorkerCell]>,
    substitutes: Box<[OnceLock<Box<WorkerCell>>]>,
    /// The first `born` substitutes may have been created.
    born: AtomicUsize,
    make: Option<MakePolicy>,
}

impl Cells {
    /// Creates a regular worker for each of `policies`, and room for `substitutes` more.
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

    /// The most workers that can exist.
    pub(crate) fn possible(&self) -> usize {
        self.regular.len() + self.substitutes.len()
    }

    /// One past the highest index that a worker may have so far.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.regular.len() + self.born()
    }

    fn born(&self) -> usize {
        // Ordering: Acquire pairs with the Release in `make`. The module's documentation covers
        // callers that must not miss a worker.
        self.born.load(Ordering::Acquire)
    }

    /// Worker `index`, if it has been created.
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

    /// All workers created so far.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &WorkerCell> {
        let substitutes = self.substitutes[..self.born()].iter();
        self.regular.iter().chain(substitutes.filter_map(|cell| cell.get().map(|cell| &**cell)))
    }

    /// Creates substitute `slot`, which is about to start. Only the caller starts it, and it holds
    /// no lock.
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
