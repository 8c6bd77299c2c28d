//! The queue that all workers share under work sharing.

use crate::entry::Entry;
use crate::task::Priority;
use lock_api::RawMutex;
use sateen_base::RawSpinLock;
use sateen_base::prim::spin_loop;
use sateen_deque::{Injector, Steal};

/// Unstarted work, by priority, the oldest first. Any thread.
pub(crate) trait SharedQueue: Send + Sync + 'static {
    /// The kind of the workers' own locks beside it.
    type Lock: RawMutex + Send + Sync;

    fn new() -> Self;
    fn push(&self, entry: Entry, priority: Priority);
    fn take(&self, priority: Priority) -> Option<Entry>;
    /// A hint; a worker that falls asleep looks after a fence.
    fn is_empty(&self) -> bool;
    /// How many entries it holds, about.
    fn len(&self) -> usize;
}

/// The default.
pub(crate) struct LockFree([Injector<Entry>; Priority::COUNT]);

impl SharedQueue for LockFree {
    type Lock = RawSpinLock;

    fn new() -> Self {
        Self([(); Priority::COUNT].map(|()| Injector::new()))
    }

    #[inline]
    fn push(&self, entry: Entry, priority: Priority) {
        self.0[priority as usize].push(entry);
    }

    #[inline]
    fn take(&self, priority: Priority) -> Option<Entry> {
        loop {
            match self.0[priority as usize].steal() {
                Steal::Success(entry) => return Some(entry),
                Steal::Empty => return None,
                Steal::Retry => spin_loop(),
            }
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.0.iter().all(Injector::is_empty)
    }

    fn len(&self) -> usize {
        self.0.iter().map(Injector::len).sum()
    }
}
