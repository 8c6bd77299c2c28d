//! Tells policies of changed task properties. Each worker has a mailbox, which it empties before it
//! picks the next task.

use crate::task::{PropertyListener, PropertyState, TaskId};
use sateen_base::prim::{AtomicBool, Ordering};
use sateen_base::{CachePadded, SpinLock};
use std::collections::HashMap;

/// The mailboxes of all workers of a runtime.
pub(crate) struct Changes(Box<[CachePadded<Changed>]>);

#[derive(Default)]
struct Changed {
    /// Whether the list may hold something: a hint.
    news: AtomicBool,
    /// The last change of each task that has not ended.
    list: SpinLock<HashMap<TaskId, u64>>,
}

impl Changes {
    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| CachePadded::default()).collect())
    }

    /// Calls `f` with the changes since the last call. Worker `index` only.
    #[inline]
    pub(super) fn pass_on(&self, index: usize, f: impl Fn(TaskId, u64)) {
        let changed = &self.0[index];
        // Ordering: Relaxed, a hint; a change that is missed now is told next time.
        if changed.news.load(Ordering::Relaxed) {
            changed.pass_on_slow(f);
        }
    }
}

impl PropertyListener for Changes {
    fn tell(&self, task: TaskId, property: u64, state: &PropertyState) {
        for changed in &self.0 {
            let mut list = changed.list.lock();
            if state.has_ended() {
                return;
            }
            list.insert(task, property);
            // Ordering: Relaxed, a hint; the lock guards the list.
            changed.news.store(true, Ordering::Relaxed);
        }
    }

    /// Forgets an ended task: a worker may be busy for long while others end any number of tasks.
    fn forget(&self, task: TaskId) {
        for changed in &self.0 {
            changed.list.lock().remove(&task);
        }
    }
}

impl Changed {
    #[cold]
    fn pass_on_slow(&self, f: impl Fn(TaskId, u64)) {
        let list = {
            let mut list = self.list.lock();
            self.news.store(false, Ordering::Relaxed);
            std::mem::take(&mut *list)
        };
        list.into_iter().for_each(|(task, property)| f(task, property));
    }
}
