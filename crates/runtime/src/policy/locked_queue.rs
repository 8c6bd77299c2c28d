//! The shared queue under locks of a chosen kind, to compare the kinds inside a scheduler.

use super::shared_queue::SharedQueue;
use crate::entry::Entry;
use crate::task::Priority;
use lock_api::RawMutex;
use sateen_base::prim::{AtomicUsize, Ordering};
use std::collections::VecDeque;

/// Deques under locks of kind `K`.
pub(crate) struct Locked<K>([Line<K>; Priority::COUNT]);

struct Line<K> {
    entries: lock_api::Mutex<K, VecDeque<Entry>>,
    /// Written under the lock.
    len: AtomicUsize,
}

impl<K: RawMutex> Line<K> {
    fn is_empty(&self) -> bool {
        // A hint; a worker that falls asleep looks after a fence.
        self.len() == 0
    }

    fn len(&self) -> usize {
        // Ordering: Relaxed, see `is_empty`.
        self.len.load(Ordering::Relaxed)
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

    fn len(&self) -> usize {
        self.0.iter().map(Line::len).sum()
    }
}
