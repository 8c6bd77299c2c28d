//! One queue for all workers.
//!
//! The last few tasks that a worker has spawned are *staged* at it before they go to the shared queue: whoever
//! joins a task right after its spawn takes it from there, and a million joined tasks do not leave a million
//! stale entries in everybody's way. Nobody waits for a stage: a worker that finds the shared queue empty takes
//! the oldest of its own, then of others'.

use super::ready::ReadyFibers;
use super::shared_queue::SharedQueue;
use super::stealing::pop_task;
use super::{Policy, Runnable};
use crate::entry::Entry;
use crate::task::{Header, Priority};
use lock_api::Mutex;
use sateen_base::prim::{Arc, AtomicUsize, Ordering};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Fibers resumed in a row before new work has a turn; see `stealing.rs`.
const RESUMES: u32 = 61;
/// Tasks staged at a worker, at most; then the older half goes to the shared queue.
const STAGED: usize = 32;

/// A worker's view of the shared queue, its stage, and its own fibers.
pub(crate) struct Sharing<Q: SharedQueue> {
    shared: Arc<Q>,
    staged: Mutex<Q::Lock, VecDeque<Entry>>,
    /// Written under the lock of `staged`.
    staged_len: AtomicUsize,
    fibers: ReadyFibers,
    resumes: Cell<u32>,
}

// SAFETY: all methods but `has_shared` and `take_staged` are called on the worker's thread only; see
// `Stealing`.
unsafe impl<Q: SharedQueue> Sync for Sharing<Q> {}
// SAFETY: as above.
unsafe impl<Q: SharedQueue> Send for Sharing<Q> {}

/// What the runtime asks of work sharing beyond [`Policy`], whatever its queue.
pub(crate) trait Shares: Policy {
    /// Whether anything waits in the shared queue or at this worker that others could take. Any thread.
    fn has_shared(&self) -> bool;
    /// The oldest task staged here. Any thread.
    fn take_staged(&self) -> Option<Entry>;
    /// Stages a new task of normal priority.
    fn push_normal(&self, entry: Entry);
    /// The youngest staged here.
    fn pop_youngest(&self) -> Option<Entry>;
    /// See [`Active::pop_task`](super::Active::pop_task).
    fn pop_task(&self, task: NonNull<Header>) -> bool;
}

impl<Q: SharedQueue> Sharing<Q> {
    pub(super) fn new(shared: Arc<Q>) -> Self {
        Self {
            shared,
            staged: Mutex::new(VecDeque::with_capacity(STAGED + 1)),
            staged_len: AtomicUsize::new(0),
            fibers: ReadyFibers::new(),
            resumes: Cell::new(0),
        }
    }

    fn has_staged(&self) -> bool {
        // Ordering: Relaxed, a hint; whoever sleeps looks after a fence.
        self.staged_len.load(Ordering::Relaxed) != 0
    }

    #[inline(always)]
    fn staged<R>(&self, f: impl FnOnce(&mut VecDeque<Entry>) -> R) -> R {
        let mut staged = self.staged.lock();
        let result = f(&mut staged);
        // Ordering: Relaxed, see `has_staged`.
        self.staged_len.store(staged.len(), Ordering::Relaxed);
        result
    }

    #[cold]
    fn share_older_slow(&self, staged: &mut VecDeque<Entry>) {
        let older = staged.drain(..STAGED / 2);
        older.for_each(|entry| self.shared.push(entry, Priority::Normal));
    }

    fn take_task(&self) -> Option<Entry> {
        let shared = |priority| self.shared.take(priority);
        shared(Priority::High)
            .or_else(|| shared(Priority::Normal))
            .or_else(|| self.take_staged())
            .or_else(|| shared(Priority::Low))
    }
}

impl<Q: SharedQueue> Shares for Sharing<Q> {
    fn has_shared(&self) -> bool {
        self.has_staged() || !self.shared.is_empty()
    }

    fn take_staged(&self) -> Option<Entry> {
        if self.has_staged() { self.staged(VecDeque::pop_front) } else { None }
    }

    #[inline]
    fn push_normal(&self, entry: Entry) {
        self.staged(|staged| {
            staged.push_back(entry);
            if staged.len() > STAGED {
                self.share_older_slow(staged);
            }
        });
    }

    #[inline]
    fn pop_youngest(&self) -> Option<Entry> {
        if self.has_staged() { self.staged(VecDeque::pop_back) } else { None }
    }

    #[inline]
    fn pop_task(&self, task: NonNull<Header>) -> bool {
        pop_task(task, || self.pop_youngest(), |entry| self.push_normal(entry))
    }
}

impl<Q: SharedQueue> Policy for Sharing<Q> {
    fn awakened(&self, runnable: Runnable) {
        let priority = runnable.priority();
        let entry = runnable.into_entry();
        if entry.is_fiber() {
            self.fibers.push(entry, priority);
        } else if priority == Priority::Normal {
            self.push_normal(entry);
        } else {
            self.shared.push(entry, priority);
        }
    }

    fn pick_next(&self) -> Option<Runnable> {
        let resumes = self.resumes.get() + 1;
        if resumes <= RESUMES
            && let Some(fiber) = self.fibers.pop()
        {
            self.resumes.set(resumes);
            return Some(Runnable::new(fiber));
        }
        self.resumes.set(0);
        self.take_task().or_else(|| self.fibers.pop()).map(Runnable::new)
    }

    fn has_ready(&self) -> bool {
        !self.fibers.is_empty() || self.has_shared()
    }
}
