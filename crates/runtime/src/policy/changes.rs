//! How policies learn of properties that have changed: a box for each worker, emptied before it picks.

use super::Policy;
use crate::task::TaskId;
use sateen_base::prim::{Arc, AtomicBool, Ordering};
use sateen_base::{CachePadded, SpinLock};
use std::collections::HashMap;

/// The boxes of all workers of a runtime.
pub(crate) struct Changes(Box<[CachePadded<Changed>]>);

#[derive(Default)]
struct Changed {
    /// There is something in the list: a hint.
    news: AtomicBool,
    /// The last change of each task.
    list: SpinLock<HashMap<TaskId, u64>>,
}

impl Changes {
    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| CachePadded::default()).collect())
    }

    /// The property of `task` has changed, wherever it is queued. Any thread.
    pub(crate) fn tell(&self, task: TaskId, property: u64) {
        for changed in &self.0 {
            let mut list = changed.list.lock();
            list.insert(task, property);
            // Ordering: Relaxed, a hint; the truth is under the lock.
            changed.news.store(true, Ordering::Relaxed);
        }
    }
}

/// A policy of the user's making, at its worker.
pub(crate) struct Custom {
    pub(super) policy: Arc<dyn Policy>,
    pub(super) changes: Arc<Changes>,
    pub(super) worker: usize,
}

impl Custom {
    /// Tells the policy of what has changed. The worker's thread only.
    #[inline]
    pub(super) fn pass_on_changes(&self) {
        let changed = &self.changes.0[self.worker];
        // Ordering: Relaxed, a hint; what comes now is told next time.
        if changed.news.load(Ordering::Relaxed) {
            self.pass_on_slow(changed);
        }
    }

    #[cold]
    fn pass_on_slow(&self, changed: &Changed) {
        let list = {
            let mut list = changed.list.lock();
            changed.news.store(false, Ordering::Relaxed);
            std::mem::take(&mut *list)
        };
        list.into_iter().for_each(|(task, property)| self.policy.property_change(task, property));
    }
}
