//! One queue for all workers.
//!
//! The last few tasks that a worker has spawned are *staged* at it before they go to the shared queue: whoever
//! joins a task right after its spawn takes it from there, and a million joined tasks do not leave a million
//! stale entries in everybody's way. Nobody waits for a stage: a worker that finds the shared queue empty takes
//! the oldest of its own, then of others'.

use super::stealing::{Fifo, pop_task};
use super::{Policy, Runnable};
use crate::entry::Entry;
use crate::task::{Header, Priority};
use sateen_base::SpinLock;
use sateen_base::prim::{Arc, AtomicUsize, Ordering, spin_loop};
use sateen_deque::{Injector, Steal};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Fibers resumed in a row before new work has a turn; see `stealing.rs`.
const RESUMES: u32 = 61;
/// Tasks staged at a worker, at most; then the older half goes to the shared queue.
const STAGED: usize = 32;

/// What nobody has started, by priority, the oldest first.
pub(crate) struct SharedQueue([Injector<Entry>; Priority::COUNT]);

impl SharedQueue {
    pub(super) fn new() -> Self {
        Self([(); Priority::COUNT].map(|()| Injector::new()))
    }

    fn push(&self, entry: Entry, priority: Priority) {
        self.0[priority as usize].push(entry);
    }

    fn take(&self, priority: Priority) -> Option<Entry> {
        loop {
            match self.0[priority as usize].steal() {
                Steal::Success(entry) => return Some(entry),
                Steal::Empty => return None,
                Steal::Retry => spin_loop(),
            }
        }
    }
}

/// A worker's view of the shared queue, its stage, and its own fibers.
pub(crate) struct Sharing {
    shared: Arc<SharedQueue>,
    staged: SpinLock<VecDeque<Entry>>,
    /// Written under the lock of `staged`.
    staged_len: AtomicUsize,
    fibers: Fifo,
    resumes: Cell<u32>,
}

// SAFETY: all methods but `has_shared` and `take_staged` are called on the worker's thread only; see
// `Stealing`.
unsafe impl Sync for Sharing {}
// SAFETY: as above.
unsafe impl Send for Sharing {}

impl Sharing {
    pub(super) fn new(shared: Arc<SharedQueue>) -> Self {
        Self {
            shared,
            staged: SpinLock::new(VecDeque::with_capacity(STAGED + 1)),
            staged_len: AtomicUsize::new(0),
            fibers: Fifo::new(),
            resumes: Cell::new(0),
        }
    }

    /// Whether anything waits in the shared queue or at this worker that others could take. Any thread.
    pub(super) fn has_shared(&self) -> bool {
        self.has_staged() || self.shared.0.iter().any(|queue| !queue.is_empty())
    }

    fn has_staged(&self) -> bool {
        // Ordering: Relaxed, a hint; whoever sleeps looks after a fence.
        self.staged_len.load(Ordering::Relaxed) != 0
    }

    fn staged<R>(&self, f: impl FnOnce(&mut VecDeque<Entry>) -> R) -> R {
        let mut staged = self.staged.lock();
        let result = f(&mut staged);
        // Ordering: Relaxed, see `has_staged`.
        self.staged_len.store(staged.len(), Ordering::Relaxed);
        result
    }

    /// The oldest task staged here. Any thread.
    pub(crate) fn take_staged(&self) -> Option<Entry> {
        if self.has_staged() { self.staged(VecDeque::pop_front) } else { None }
    }

    #[inline]
    pub(super) fn push_normal(&self, entry: Entry) {
        self.staged(|staged| {
            staged.push_back(entry);
            if staged.len() > STAGED {
                let older = staged.drain(..STAGED / 2);
                older.for_each(|entry| self.shared.push(entry, Priority::Normal));
            }
        });
    }

    pub(super) fn pop_youngest(&self) -> Option<Entry> {
        if self.has_staged() { self.staged(VecDeque::pop_back) } else { None }
    }

    pub(super) fn pop_task(&self, task: NonNull<Header>) -> bool {
        pop_task(task, || self.pop_youngest(), |entry| self.push_normal(entry))
    }

    fn take_task(&self) -> Option<Entry> {
        let shared = |priority| self.shared.take(priority);
        shared(Priority::High)
            .or_else(|| shared(Priority::Normal))
            .or_else(|| self.take_staged())
            .or_else(|| shared(Priority::Low))
    }
}

impl Policy for Sharing {
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
