//! The queue that all workers share under work sharing: without a lock, or under one of any kind.

use crate::entry::Entry;
use crate::task::Priority;
use lock_api::RawMutex;
use sateen_base::RawSpinLock;
use sateen_base::prim::{AtomicUsize, Ordering, spin_loop};
use sateen_deque::{Injector, Steal};
use std::collections::VecDeque;

/// Unstarted work, by priority, the oldest first. Any thread.
pub(crate) trait SharedQueue: Send + Sync + 'static {
    /// The kind of the workers' own locks beside it.
    type Lock: RawMutex + Send + Sync;

    fn new() -> Self;
    fn push(&self, entry: Entry, priority: Priority);
    fn take(&self, priority: Priority) -> Option<Entry>;
    /// A hint; a worker that falls asleep looks after a fence.
    fn is_empty(&self) -> bool;
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
}

/// Deques under locks of kind `K`.
pub(crate) struct Locked<K>([Line<K>; Priority::COUNT]);

struct Line<K> {
    entries: lock_api::Mutex<K, VecDeque<Entry>>,
    /// Written under the lock.
    len: AtomicUsize,
}

impl<K: RawMutex> Line<K> {
    fn is_empty(&self) -> bool {
        // Ordering: Relaxed, a hint; a worker that falls asleep looks after a fence.
        self.len.load(Ordering::Relaxed) == 0
    }

    fn change<R>(&self, f: impl FnOnce(&mut VecDeque<Entry>) -> R) -> R {
        let mut entries = self.entries.lock();
        let result = f(&mut entries);
        // Ordering: Relaxed, see `is_empty`.
        self.len.store(entries.len(), Ordering::Relaxed);
        result
    }
}

impl<K: RawMutex + Send + Sync + 'static> SharedQueue for Locked<K> {
    type Lock = K;

    fn new() -> Self {
        Self([(); Priority::COUNT].map(|()| Line {
            entries: lock_api::Mutex::new(VecDeque::new()),
            len: AtomicUsize::new(0),
        }))
    }

    fn push(&self, entry: Entry, priority: Priority) {
        self.0[priority as usize].change(|entries| entries.push_back(entry));
    }

    fn take(&self, priority: Priority) -> Option<Entry> {
        let line = &self.0[priority as usize];
        if line.is_empty() { None } else { line.change(VecDeque::pop_front) }
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(Line::is_empty)
    }
}
