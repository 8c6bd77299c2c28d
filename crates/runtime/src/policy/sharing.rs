//! Work sharing: one queue for all workers.
//!
//! A worker *stages* the last few tasks that it has spawned before they go to the shared queue. A
//! task that is joined right after its spawn is taken from there. So a million joined tasks do not
//! leave a million stale entries for other workers. No worker waits for a stage: a worker that
//! finds the shared queue empty takes the oldest task of its own stage, then of others' stages.

use super::Runnable;
use super::ready::ReadyFibers;
use super::shared_queue::SharedQueue;
use super::stealing::{part_stale, pop_task};
use crate::entry::Entry;
use crate::task::{Header, Priority};
use sateen_base::SpinLock;
use sateen_base::prim::{Arc, AtomicUsize, Ordering};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Fibers resumed in a row before new work gets a turn; see `stealing.rs`.
const RESUMES: u32 = 61;
/// Most tasks staged at a worker; then the older half goes to the shared queue.
const STAGED: usize = 32;

/// The shared queue and a worker's stage, as every thread may use them.
///
/// On lines of its own: its worker writes it at every spawn. Blocks of this size lie side by side,
/// so two workers' stages could share a line otherwise, or a stage one with what all read.
#[repr(align(128))]
pub(crate) struct Stage {
    shared: Arc<SharedQueue>,
    staged: SpinLock<VecDeque<Entry>>,
    /// Written under the lock of `staged`.
    staged_len: AtomicUsize,
}

/// A worker's stage, and its own fibers.
pub(crate) struct Sharing {
    stage: Arc<Stage>,
    fibers: ReadyFibers,
    resumes: Cell<u32>,
}

impl Stage {
    fn has_staged(&self) -> bool {
        // Ordering: Relaxed, a hint; a worker that falls asleep checks after a fence.
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

    /// Whether anything waits in the shared queue or at this worker that others could take.
    pub(super) fn has_shared(&self) -> bool {
        self.has_staged() || !self.shared.is_empty()
    }

    /// The oldest task staged here.
    pub(super) fn take_staged(&self) -> Option<Entry> {
        if self.has_staged() { self.staged(VecDeque::pop_front) } else { None }
    }

    /// How many are staged here, and how many lie in the shared queue, about.
    pub(super) fn lens(&self) -> (usize, usize) {
        // Ordering: Relaxed, as in `has_staged`.
        (self.staged_len.load(Ordering::Relaxed), self.shared.len())
    }
}

impl Sharing {
    pub(super) fn new(shared: Arc<SharedQueue>) -> Self {
        let stage = Arc::new(Stage {
            shared,
            staged: SpinLock::new(VecDeque::with_capacity(STAGED + 1)),
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

    /// See [`Policy::awakened`](super::Policy::awakened).
    pub(super) fn awakened(&self, runnable: Runnable) {
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

    /// See [`Policy::pick_next`](super::Policy::pick_next).
    pub(super) fn pick_next(&self) -> Option<Runnable> {
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

    /// See [`Policy::has_ready`](super::Policy::has_ready).
    pub(super) fn has_ready(&self) -> bool {
        !self.fibers.is_empty() || self.stage.has_shared()
    }

    /// Stages a new task of normal priority.
    #[inline]
    pub(super) fn push_normal(&self, entry: Entry) {
        self.stage.staged(|staged| {
            staged.push_back(entry);
            if staged.len() > STAGED {
                self.stage.share_older_slow(staged);
            }
        });
    }

    /// The youngest staged here.
    #[inline]
    pub(super) fn pop_youngest(&self) -> Option<Entry> {
        let stage = &self.stage;
        if stage.has_staged() { stage.staged(VecDeque::pop_back) } else { None }
    }

    /// See [`WorkerPolicy::pop_task`](super::WorkerPolicy::pop_task).
    #[inline]
    pub(super) fn pop_task(&self, task: NonNull<Header>) -> bool {
        pop_task(task, || self.pop_youngest(), |entry| self.push_normal(entry))
    }

    /// See [`WorkerPolicy::take_stale`](super::WorkerPolicy::take_stale).
    #[cold]
    pub(super) fn take_stale(&self, stale: &mut Vec<Entry>) -> usize {
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

    /// What every thread may use.
    pub(super) fn stage(&self) -> Arc<Stage> {
        Arc::clone(&self.stage)
    }
}
