//! One queue for all workers.

use super::stealing::Fibers;
use super::{Policy, Runnable};
use crate::entry::Entry;
use crate::task::Priority;
use sateen_base::prim::{Arc, spin_loop};
use sateen_deque::{Injector, Steal};
use std::cell::Cell;

/// See `RESUMES` in `stealing.rs`.
const RESUMES: u32 = 61;

/// What nobody has started, by priority, the oldest first.
pub(crate) struct SharedQueue([Injector<Entry>; Priority::COUNT]);

impl SharedQueue {
    pub(super) fn new() -> Self {
        Self([(); Priority::COUNT].map(|()| Injector::new()))
    }

    fn take(&self) -> Option<Entry> {
        self.0.iter().rev().find_map(|queue| {
            loop {
                match queue.steal() {
                    Steal::Success(entry) => return Some(entry),
                    Steal::Empty => return None,
                    Steal::Retry => spin_loop(),
                }
            }
        })
    }
}

/// A worker's view of the shared queue, and its own fibers.
pub(crate) struct Sharing {
    shared: Arc<SharedQueue>,
    fibers: Fibers,
    resumes: Cell<u32>,
}

// SAFETY: all methods but `has_shared` are called on the worker's thread only; see `Stealing`.
unsafe impl Sync for Sharing {}
// SAFETY: as above.
unsafe impl Send for Sharing {}

impl Sharing {
    pub(super) fn new(shared: Arc<SharedQueue>) -> Self {
        Self { shared, fibers: Fibers::new(), resumes: Cell::new(0) }
    }

    /// Whether anything waits in the shared queue. Any thread.
    pub(super) fn has_shared(&self) -> bool {
        self.shared.0.iter().any(|queue| !queue.is_empty())
    }
}

impl Policy for Sharing {
    fn awakened(&self, runnable: Runnable) {
        let priority = runnable.priority();
        let entry = runnable.into_entry();
        if entry.is_fiber() {
            self.fibers.push(entry, priority);
        } else {
            self.shared.0[priority as usize].push(entry);
        }
    }

    fn pick_next(&self) -> Option<Runnable> {
        if !self.fibers.is_empty() {
            let resumes = self.resumes.get() + 1;
            self.resumes.set(resumes);
            if resumes <= RESUMES {
                return self.fibers.pop().map(Runnable::new);
            }
        }
        self.resumes.set(0);
        self.shared.take().or_else(|| self.fibers.pop()).map(Runnable::new)
    }

    fn has_ready(&self) -> bool {
        !self.fibers.is_empty() || self.has_shared()
    }
}
