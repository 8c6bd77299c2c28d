//! The runtimes and worker queues of this process that can be inspected.
//!
//! An entry keeps its target alive and is removed before the target ends (`Listed`). So a reader
//! under the registry's lock never drops the last reference, and runs no destructor of the user's.
//! Each process has its own registry, because a fork may happen while a lock is held.

use super::frame::QueueLook;
use crate::shared::Shared;
use sateen_base::os::PerProcess;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, AtomicU64, Ordering, thread};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// How often a lock is tried, with a pause after each time. These locks are held for some
/// microseconds, unless their holder is stopped.
const TRIES: u32 = 40;
/// After some tries, sleep so that the holder gets a core.
const PAUSE: Duration = Duration::from_micros(50);

/// A worker queue, as seen by a reader.
pub trait Queue: Send + Sync {
    /// Fills in what is available. Never waits, and calls no user code.
    fn look(&self, look: &mut QueueLook<'_>);
    /// Its display name.
    fn name(&self) -> &str;
}

/// A runtime in the registry.
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) shared: Arc<Shared>,
}

type Queues = Vec<(u64, Arc<dyn Queue>)>;

#[derive(Default)]
pub(super) struct Registry {
    runtimes: Mutex<Vec<Entry>>,
    queues: Mutex<Queues>,
}

impl Registry {
    pub(super) fn get() -> &'static Self {
        static REGISTRY: PerProcess<Registry> = PerProcess::new();
        REGISTRY.get(Self::default)
    }

    /// The runtimes, for a thread that must not wait.
    pub(super) fn try_runtimes(&self) -> Option<MutexGuard<'_, Vec<Entry>>> {
        try_mutex(&self.runtimes)
    }

    /// The worker queues, for a thread that must not wait.
    pub(super) fn try_queues(&self) -> Option<MutexGuard<'_, Queues>> {
        try_mutex(&self.queues)
    }

    /// Calls `f` with both locks held.
    #[cfg(test)]
    pub(super) fn with_locked(&self, f: &dyn Fn()) {
        let _held = (lock(&self.runtimes), lock(&self.queues));
        f();
    }

    /// The runtimes, for a thread that may wait.
    pub(super) fn runtimes(&self) -> Vec<(u64, Arc<Shared>)> {
        let runtimes = lock(&self.runtimes);
        runtimes.iter().map(|entry| (entry.number, Arc::clone(&entry.shared))).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A vector is consistent after each of its operations.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn try_mutex<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    patiently(|| match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    })
}

/// Calls `attempt` until it succeeds, for some milliseconds at most.
#[doc(hidden)]
pub fn patiently<R>(mut attempt: impl FnMut() -> Option<R>) -> Option<R> {
    for _ in 0..TRIES {
        if let Some(result) = attempt() {
            return Some(result);
        }
        thread::sleep(PAUSE);
    }
    None
}

/// Keeps its target in the registry while it lives.
#[derive(Debug)]
pub struct Listed(u64);

impl Listed {
    /// For a target that is not in the registry.
    pub(crate) const NOT: Self = Self(0);
}

fn number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    // Ordering: Relaxed; only uniqueness counts.
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

pub(super) fn list_runtime(shared: &Arc<Shared>) -> Listed {
    let number = number();
    let entry = Entry { number, shared: Arc::clone(shared) };
    lock(&Registry::get().runtimes).push(entry);
    Listed(number)
}

/// Adds a worker queue.
#[doc(hidden)]
pub fn list_queue(queue: Arc<dyn Queue>) -> Listed {
    let number = number();
    lock(&Registry::get().queues).push((number, queue));
    Listed(number)
}

impl Drop for Listed {
    fn drop(&mut self) {
        if self.0 == 0 {
            return;
        }
        let registry = Registry::get();
        // The removed entry is dropped after the locks: it may hold the last reference to something
        // of the user's.
        let runtime = {
            let mut runtimes = lock(&registry.runtimes);
            let at = runtimes.iter().position(|entry| entry.number == self.0);
            at.map(|at| runtimes.remove(at))
        };
        drop(runtime);
        let queue = {
            let mut queues = lock(&registry.queues);
            let at = queues.iter().position(|(number, _)| *number == self.0);
            at.map(|at| queues.remove(at))
        };
        drop(queue);
    }
}
