//! The round-robin policy: each worker alone, in order of arrival.

use super::Runnable;
use super::ready::{PriorityFifo, ReadyFibers};
use super::stealing::pop_task;
use crate::entry::Entry;
use crate::task::{Header, Priority};
use sateen_base::prim::{Arc, AtomicUsize, Ordering};
use std::cell::Cell;
use std::ptr::NonNull;

/// Ready fibers and tasks alternate, each in order of arrival. Other threads only read the number
/// of tasks.
pub(crate) struct RoundRobin {
    tasks: PriorityFifo,
    fibers: ReadyFibers,
    /// Whether the last entry taken was a fiber.
    fiber_last: Cell<bool>,
    /// Number of tasks that wait. Written by the worker, read by any thread.
    len: Arc<AtomicUsize>,
}

impl RoundRobin {
    pub(super) fn new() -> Self {
        Self {
            tasks: PriorityFifo::new(),
            fibers: ReadyFibers::new(),
            fiber_last: Cell::new(false),
            len: Arc::default(),
        }
    }

    #[inline]
    pub(super) fn push_normal(&self, entry: Entry) {
        self.tasks.push(entry, Priority::Normal);
        self.count(1);
    }

    /// The shared number of tasks that wait.
    pub(super) fn len(&self) -> &Arc<AtomicUsize> {
        &self.len
    }

    #[inline]
    fn count(&self, change: isize) {
        // Ordering: Relaxed; one writer, and a statistic.
        let len = self.len.load(Ordering::Relaxed).wrapping_add_signed(change);
        self.len.store(len, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn pop_youngest(&self) -> Option<Entry> {
        self.tasks.pop_youngest().inspect(|_| self.count(-1))
    }

    #[inline]
    pub(super) fn pop_task(&self, task: NonNull<Header>) -> bool {
        pop_task(task, || self.pop_youngest(), |entry| self.push_normal(entry))
    }

    /// See [`WorkerPolicy::take_stale`](super::WorkerPolicy::take_stale).
    #[cold]
    pub(super) fn take_stale(&self, stale: &mut Vec<Entry>) -> usize {
        let kept = self.tasks.take_stale(stale);
        // Ordering: Relaxed, see `count`.
        self.len.store(kept, Ordering::Relaxed);
        kept
    }

    pub(super) fn awakened(&self, runnable: Runnable) {
        let priority = runnable.priority();
        let entry = runnable.into_entry();
        let queue = if entry.is_fiber() { &self.fibers } else { &self.tasks };
        queue.push(entry, priority);
        if !entry.is_fiber() {
            self.count(1);
        }
    }

    pub(super) fn pick_next(&self) -> Option<Runnable> {
        let (first, then) = match self.fiber_last.get() {
            true => (&self.tasks, &self.fibers),
            false => (&self.fibers, &self.tasks),
        };
        let entry = first.pop().or_else(|| then.pop())?;
        self.fiber_last.set(entry.is_fiber());
        if !entry.is_fiber() {
            self.count(-1);
        }
        Some(Runnable::new(entry))
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.fibers.is_empty() || !self.tasks.is_empty()
    }
}
