//! Each worker alone, in order.

use super::stealing::{Fibers, pop_task};
use super::{Policy, Runnable};
use crate::entry::Entry;
use crate::task::{Header, Priority};
use sateen_base::prim::UnsafeCell;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Fibers that can go on and tasks in the order of their arrival, by turns. No atomics: nobody else
/// looks here.
pub(crate) struct RoundRobin {
    tasks: UnsafeCell<[VecDeque<Entry>; Priority::COUNT]>,
    fibers: Fibers,
    /// A fiber was picked last.
    fiber_last: Cell<bool>,
}

// SAFETY: called on the worker's thread only; see `Stealing`.
unsafe impl Sync for RoundRobin {}
// SAFETY: as above.
unsafe impl Send for RoundRobin {}

impl RoundRobin {
    pub(super) fn new() -> Self {
        Self {
            tasks: UnsafeCell::new(Default::default()),
            fibers: Fibers::new(),
            fiber_last: Cell::new(false),
        }
    }

    fn with<R>(&self, f: impl FnOnce(&mut [VecDeque<Entry>; Priority::COUNT]) -> R) -> R {
        // SAFETY: worker's thread; `f` does not come back here.
        self.tasks.with_mut(|tasks| f(unsafe { &mut *tasks }))
    }

    pub(super) fn pop_youngest(&self) -> Option<Entry> {
        self.with(|tasks| tasks[Priority::Normal as usize].pop_back())
    }

    pub(super) fn pop_task(&self, task: NonNull<Header>) -> bool {
        pop_task(
            task,
            || self.pop_youngest(),
            |entry| self.with(|tasks| tasks[Priority::Normal as usize].push_back(entry)),
        )
    }

    fn pop_oldest(&self) -> Option<Entry> {
        self.with(|tasks| tasks.iter_mut().rev().find_map(VecDeque::pop_front))
    }
}

impl Policy for RoundRobin {
    fn awakened(&self, runnable: Runnable) {
        let priority = runnable.priority();
        let entry = runnable.into_entry();
        if entry.is_fiber() {
            self.fibers.push(entry, priority);
        } else {
            self.with(|tasks| tasks[priority as usize].push_back(entry));
        }
    }

    fn pick_next(&self) -> Option<Runnable> {
        let fiber_first = !self.fiber_last.get();
        let entry = if fiber_first {
            self.fibers.pop().or_else(|| self.pop_oldest())
        } else {
            self.pop_oldest().or_else(|| self.fibers.pop())
        }?;
        self.fiber_last.set(entry.is_fiber());
        Some(Runnable::new(entry))
    }

    fn has_ready(&self) -> bool {
        !self.fibers.is_empty() || self.with(|tasks| tasks.iter().any(|queue| !queue.is_empty()))
    }
}
