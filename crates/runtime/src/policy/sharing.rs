//! One queue for all workers.
//!
//! The last few tasks that a worker has spawned are *staged* at it before they go to the shared
//! queue. A task that is joined right after its spawn is taken from there, and a million joined
//! tasks do not leave a million stale entries in other workers' way. No worker waits for a stage: a
//! worker that finds the shared queue empty takes the oldest task of its own stage, then of
//! others'.

use super::Runnable;
use super::ready::ReadyFibers;
use super::shared_queue::SharedQueue;
use super::stealing::{part_stale, pop_task};
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

/// The shared queue and a worker's stage: what every thread may use.
///
/// On lines of its own: its worker writes it at every spawn. Blocks of this size lie side by side,
/// so two workers' stages could share a line otherwise, or a stage one with what all read.
// (As much as `CachePadded`, which would stand between the `Arc` and the trait.)
#[repr(align(128))]
pub(crate) struct Stage<Q: SharedQueue> {
    shared: Arc<Q>,
    staged: Mutex<Q::Lock, VecDeque<Entry>>,
    /// Written under the lock of `staged`.
    staged_len: AtomicUsize,
}

/// A worker's stage, and its own fibers.
pub(crate) struct Sharing<Q: SharedQueue> {
    stage: Arc<Stage<Q>>,
    fibers: ReadyFibers,
    resumes: Cell<u32>,
}

/// [`Stage`], whatever its queue.
pub(crate) trait Staged: Send + Sync {
    /// Whether anything waits in the shared queue or at this worker that others could take.
    fn has_shared(&self) -> bool;
    /// The oldest task staged here.
    fn take_staged(&self) -> Option<Entry>;
    /// How many are staged here, and how many lie in the shared queue, about.
    fn lens(&self) -> (usize, usize);
}

/// [`Sharing`], whatever its queue.
pub(crate) trait Shares {
    /// See [`Policy::awakened`](super::Policy::awakened).
    fn awakened(&self, runnable: Runnable);
    /// See [`Policy::pick_next`](super::Policy::pick_next).
    fn pick_next(&self) -> Option<Runnable>;
    /// See [`Policy::has_ready`](super::Policy::has_ready).
    fn has_ready(&self) -> bool;
    /// Stages a new task of normal priority.
    fn push_normal(&self, entry: Entry);
    /// The youngest staged here.
    fn pop_youngest(&self) -> Option<Entry>;
    /// See [`WorkerPolicy::pop_task`](super::WorkerPolicy::pop_task).
    fn pop_task(&self, task: NonNull<Header>) -> bool;
    /// See [`WorkerPolicy::take_stale`](super::WorkerPolicy::take_stale).
    fn take_stale(&self, stale: &mut Vec<Entry>) -> usize;
    /// What every thread may use.
    fn stage(&self) -> Arc<dyn Staged>;
}

impl<Q: SharedQueue> Stage<Q> {
    fn has_staged(&self) -> bool {
        // Ordering: Relaxed, a hint; a worker that falls asleep looks after a fence.
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
}

impl<Q: SharedQueue> Staged for Stage<Q> {
    fn has_shared(&self) -> bool {
        self.has_staged() || !self.shared.is_empty()
    }

    fn take_staged(&self) -> Option<Entry> {
        if self.has_staged() { self.staged(VecDeque::pop_front) } else { None }
    }

    fn lens(&self) -> (usize, usize) {
        // Ordering: Relaxed, as in `has_staged`.
        (self.staged_len.load(Ordering::Relaxed), self.shared.len())
    }
}

impl<Q: SharedQueue> Sharing<Q> {
    pub(super) fn new(shared: Arc<Q>) -> Self {
        let stage = Arc::new(Stage {
            shared,
            staged: Mutex::new(VecDeque::with_capacity(STAGED + 1)),
            staged_len: AtomicUsize::new(0),
        });
        Self { stage, fibers: ReadyFibers::new(), resumes: Cell::new(0) }
    }

    fn take_task(&self) -> Option<Entry> {
        let shared = |priority| self.stage.shared.take(priority);
        shared(Priority::High)
            .or_else(|| shared(Priority::Normal))
            .or_else(|| self.stage.take_staged())
            .or_else(|| shared(Priority::Low))
    }
}

impl<Q: SharedQueue> Shares for Sharing<Q> {
    fn awakened(&self, runnable: Runnable) {
        let priority = runnable.priority();
        let entry = runnable.into_entry();
        if entry.is_fiber() {
            self.fibers.push(entry, priority);
        } else if priority == Priority::Normal {
            self.push_normal(entry);
        } else {
            self.stage.shared.push(entry, priority);
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
        !self.fibers.is_empty() || self.stage.has_shared()
    }

    #[inline]
    fn push_normal(&self, entry: Entry) {
        self.stage.staged(|staged| {
            staged.push_back(entry);
            if staged.len() > STAGED {
                self.stage.share_older_slow(staged);
            }
        });
    }

    #[inline]
    fn pop_youngest(&self) -> Option<Entry> {
        let stage = &self.stage;
        if stage.has_staged() { stage.staged(VecDeque::pop_back) } else { None }
    }

    #[inline]
    fn pop_task(&self, task: NonNull<Header>) -> bool {
        pop_task(task, || self.pop_youngest(), |entry| self.push_normal(entry))
    }

    #[cold]
    fn take_stale(&self, stale: &mut Vec<Entry>) -> usize {
        let shared = &self.stage.shared;
        let mut kept = 0;
        for priority in [Priority::High, Priority::Normal, Priority::Low] {
            let all = std::iter::from_fn(|| shared.take(priority)).collect();
            let live = part_stale(all, stale);
            kept += live.len();
            live.into_iter().for_each(|entry| shared.push(entry, priority));
        }
        kept
    }

    fn stage(&self) -> Arc<dyn Staged> {
        Arc::clone(&self.stage) as Arc<dyn Staged>
    }
}
