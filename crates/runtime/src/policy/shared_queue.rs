//! The shared queue of work sharing.

use crate::entry::Entry;
use crate::task::Priority;
use sateen_base::prim::spin_loop;
use sateen_deque::{Injector, Steal};

/// Unstarted work, by priority, the oldest first. Any thread.
pub(super) struct SharedQueue([Injector<Entry>; Priority::COUNT]);

impl SharedQueue {
    pub(super) fn new() -> Self {
        Self([(); Priority::COUNT].map(|()| Injector::new()))
    }

    #[inline]
    pub(super) fn push(&self, entry: Entry, priority: Priority) {
        self.0[priority as usize].push(entry);
    }

    #[inline]
    pub(super) fn take(&self, priority: Priority) -> Option<Entry> {
        loop {
            match self.0[priority as usize].steal() {
                Steal::Success(entry) => return Some(entry),
                Steal::Empty => return None,
                Steal::Retry => spin_loop(),
            }
        }
    }

    /// A hint; a worker that falls asleep looks after a fence.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Injector::is_empty)
    }

    /// How many entries it holds, about.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(Injector::len).sum()
    }
}
