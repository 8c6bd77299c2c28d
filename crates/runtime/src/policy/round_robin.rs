//! Each worker alone, in order.

use super::Runnable;
use super::ready::{PriorityFifo, ReadyFibers};
use super::stealing::pop_task;
use crate::entry::Entry;
use crate::task::{Header, Priority};
use std::cell::Cell;
use std::ptr::NonNull;

/// Fibers that can resume and tasks, alternating, each in the order of their arrival. There are no
/// atomics, because no other thread looks here.
pub(crate) struct RoundRobin {
    tasks: PriorityFifo,
    fibers: ReadyFibers,
    /// The last entry that was taken is a fiber.
    fiber_last: Cell<bool>,
}

impl RoundRobin {
    pub(super) fn new() -> Self {
        Self {
            tasks: PriorityFifo::new(),
            fibers: ReadyFibers::new(),
            fiber_last: Cell::new(false),
        }
    }

    #[inline]
    pub(super) fn push_normal(&self, entry: Entry) {
        self.tasks.push(entry, Priority::Normal);
    }

    #[inline]
    pub(super) fn pop_youngest(&self) -> Option<Entry> {
        self.tasks.pop_youngest()
    }

    #[inline]
    pub(super) fn pop_task(&self, task: NonNull<Header>) -> bool {
        pop_task(task, || self.pop_youngest(), |entry| self.push_normal(entry))
    }

    pub(super) fn awakened(&self, runnable: Runnable) {
        let priority = runnable.priority();
        let entry = runnable.into_entry();
        let queue = if entry.is_fiber() { &self.fibers } else { &self.tasks };
        queue.push(entry, priority);
    }

    pub(super) fn pick_next(&self) -> Option<Runnable> {
        let (first, then) = match self.fiber_last.get() {
            true => (&self.tasks, &self.fibers),
            false => (&self.fibers, &self.tasks),
        };
        let entry = first.pop().or_else(|| then.pop())?;
        self.fiber_last.set(entry.is_fiber());
        Some(Runnable::new(entry))
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.fibers.is_empty() || !self.tasks.is_empty()
    }
}
