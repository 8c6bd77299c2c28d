//! Work sharing as a policy of the user's, under locks of a chosen kind.

use lock_api::{Mutex, RawMutex};
use sateen::policy::{self, Policy, Runnable, Scheduling};
use std::collections::VecDeque;
use std::sync::Arc;

/// What can run, the youngest last, under a lock of kind `K`.
type Queue<K> = Mutex<K, VecDeque<Runnable>>;

/// All workers share one queue of new tasks. The youngest runs first, so that a tree of tasks needs
/// few stacks. Tasks that have started are queued at their worker, and go on before new ones start.
///
/// Source: the algorithm `shared_work` of Boost.Fiber.
struct Shared<K> {
    new: Arc<Queue<K>>,
    started: Queue<K>,
}

impl<K: RawMutex + Send + Sync> Policy for Shared<K> {
    fn awakened(&self, runnable: Runnable) {
        let queue = if runnable.is_pinned() { &self.started } else { &*self.new };
        queue.lock().push_back(runnable);
    }

    fn pick_next(&self) -> Option<Runnable> {
        let started = self.started.lock().pop_front();
        started.or_else(|| self.new.lock().pop_back())
    }

    fn has_ready(&self) -> bool {
        !self.started.lock().is_empty() || !self.new.lock().is_empty()
    }
}

/// Work sharing with each queue under a lock of kind `K`.
pub(crate) fn work_sharing_locked<K: RawMutex + Send + Sync + 'static>() -> Scheduling {
    let new = Arc::new(Queue::<K>::new(VecDeque::new()));
    policy::custom(move |_| {
        Box::new(Shared { new: Arc::clone(&new), started: Queue::<K>::new(VecDeque::new()) })
    })
}

#[cfg(test)]
mod tests {
    use crate::ours::RawKind;
    use crate::registry::for_each;
    use sateen::{Runtime, spawn, yield_now};

    fn tree(depth: u32) -> u64 {
        if depth == 0 {
            yield_now();
            return 1;
        }
        let children: Vec<_> = (0..4).map(|_| spawn(move || tree(depth - 1))).collect();
        children.into_iter().map(|child| child.join().expect("a child")).sum()
    }

    fn runs_everything<K: RawKind + Send + Sync>() {
        for workers in [1, 2, 3] {
            let policy = super::work_sharing_locked::<K>();
            let runtime = Runtime::builder().workers(workers).policy(policy).build();
            assert_eq!(runtime.expect("a runtime").install(|| tree(4)), 256, "{}", K::NAME);
        }
    }

    #[test]
    fn under_each_kind_of_lock_every_task_runs() {
        for_each!(K in raw_locks(false) => { runs_everything::<K>(); });
    }
}
