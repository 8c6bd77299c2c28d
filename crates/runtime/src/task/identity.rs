//! A task's identity: number, name, priority, and what only some tasks have.

use super::{CancelToken, Header};
use crate::worker::Worker;
use sateen_base::prim::{AtomicU8, AtomicU64, Ordering};
use std::cell::Cell;
use std::num::NonZeroU64;
use std::ptr::NonNull;
use std::sync::Arc;

/// The number of a task. No other task of this process ever has the same.
///
/// The same number is the task's [`context_id`](sateen_sync::park::context_id).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(NonZeroU64);

impl TaskId {
    /// The number, never 0.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl std::fmt::Display for TaskId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The priority of a task, compared with others that could run. It is not inherited: the spawner
/// sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Runs when nothing else waits at its worker.
    Low,
    /// The default.
    #[default]
    Normal,
    /// Runs before anything else that waits at its worker.
    High,
}

impl Priority {
    /// The number of priorities.
    pub(crate) const COUNT: usize = 3;

    pub(crate) fn index(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_index(index: u8) -> Self {
        match index {
            0 => Self::Low,
            2 => Self::High,
            _ => Self::Normal,
        }
    }
}

/// Data that only some tasks have.
#[derive(Default)]
pub(crate) struct Extra {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) stack_size: Option<usize>,
    /// The only worker that may run it.
    pub(crate) worker: Option<usize>,
    pub(crate) token: Option<CancelToken>,
    pub(crate) property: Option<Property>,
    /// For a named task, since when it is ready, in ticks.
    pub(crate) ready_at: AtomicU64,
}

impl Extra {
    /// See [`Header::note_running`].
    #[cold]
    pub(super) fn note_running(&self, worker: &Worker) {
        if let Some(name) = &self.name {
            // Ordering: Relaxed; the queue ordered what was stored.
            worker.ready_times.add(name, self.ready_at.load(Ordering::Relaxed));
        }
    }
}

/// A number that policies may order by.
pub(crate) struct Property {
    value: AtomicU64,
    state: PropertyState,
    /// The listener for changes.
    told: Option<Arc<dyn PropertyListener>>,
}

/// Whether the property has changed, and whether its task has ended: two bits.
#[derive(Debug, Default)]
pub(crate) struct PropertyState(AtomicU8);

const CHANGED: u8 = 1;
const ENDED: u8 = 2;

impl PropertyState {
    /// Whether the task has ended. Called under a lock that [`PropertyListener::forget`] also
    /// takes, which is called after the end.
    pub(crate) fn has_ended(&self) -> bool {
        // Ordering: Relaxed, by that lock.
        self.0.load(Ordering::Relaxed) & ENDED != 0
    }

    fn set(&self, bit: u8) -> u8 {
        // Ordering: Relaxed. In the order of this word, the end finds the change, or the change
        // finds the end.
        self.0.fetch_or(bit, Ordering::Relaxed)
    }
}

impl Property {
    pub(super) fn new(value: u64, told: Option<Arc<dyn PropertyListener>>) -> Self {
        Self { value: AtomicU64::new(value), state: PropertyState::default(), told }
    }

    pub(super) fn get(&self) -> u64 {
        // Ordering: Relaxed, it guards no data.
        self.value.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, task: TaskId, value: u64) {
        // Ordering: Relaxed, as above; the policies that are told below see it.
        self.value.store(value, Ordering::Relaxed);
        if let Some(told) = &self.told
            && self.state.set(CHANGED) & ENDED == 0
        {
            told.tell(task, value, &self.state);
        }
    }

    /// The task is about to end.
    fn end(&self, task: TaskId) {
        if let Some(told) = &self.told
            && self.state.set(ENDED) & CHANGED != 0
        {
            told.forget(task);
        }
    }
}

/// A listener for changed properties.
pub(crate) trait PropertyListener: Send + Sync {
    /// The property of `task` has changed, wherever the task is queued. Called on any thread.
    fn tell(&self, task: TaskId, property: u64, state: &PropertyState);

    /// The task has ended.
    fn forget(&self, task: TaskId);
}

/// Attaches a new task to its token.
#[inline]
pub(super) fn attach(header: NonNull<Header>) {
    // SAFETY: the caller has just created it.
    let extra = unsafe { header.as_ref() }.extra.as_ref();
    if let Some(token) = extra.and_then(|extra| extra.token.as_ref()) {
        token.attach(header);
    }
}

/// Detaches a task that is about to end: its token can no longer cancel it, and policies are no
/// longer told of it.
#[inline]
pub(super) fn detach(header: NonNull<Header>) {
    // SAFETY: the caller's claim keeps the frame.
    let header_ref = unsafe { header.as_ref() };
    if let Some(extra) = &header_ref.extra {
        if let Some(token) = &extra.token {
            token.detach(header);
        }
        if let Some(property) = &extra.property {
            property.end(header_ref.id);
        }
    }
}

/// Consecutive task numbers. A worker takes many at a time, so drawing one costs an addition.
#[derive(Debug)]
pub(crate) struct Ids {
    next: Cell<u64>,
    end: Cell<u64>,
}

static NEXT: AtomicU64 = AtomicU64::new(1);
const BLOCK: u64 = 1 << 16;

impl Ids {
    pub(crate) fn new() -> Self {
        Self { next: Cell::new(0), end: Cell::new(0) }
    }

    /// The next number.
    #[inline]
    pub(crate) fn draw(&self) -> TaskId {
        let next = self.next.get();
        if next == self.end.get() {
            return self.draw_slow();
        }
        self.next.set(next + 1);
        TaskId(NonZeroU64::new(next).unwrap_or(NonZeroU64::MIN))
    }

    #[cold]
    fn draw_slow(&self) -> TaskId {
        // Ordering: Relaxed; only uniqueness counts.
        let first = NEXT.fetch_add(BLOCK, Ordering::Relaxed);
        self.next.set(first);
        self.end.set(first + BLOCK);
        self.draw()
    }

    /// A bound above all numbers handed out so far, including those that workers hold.
    pub(crate) fn bound() -> u64 {
        // Ordering: Relaxed, as above.
        NEXT.load(Ordering::Relaxed)
    }

    /// A number for a task that was not spawned on a worker.
    pub(crate) fn outside() -> TaskId {
        // Ordering: Relaxed, as above.
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        TaskId(NonZeroU64::new(id).unwrap_or(NonZeroU64::MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_all_different() {
        let (a, b) = (Ids::new(), Ids::new());
        let mut seen = std::collections::HashSet::new();
        for _ in 0..100_000 {
            assert!(seen.insert(a.draw()));
            assert!(seen.insert(b.draw()));
        }
        assert!(seen.insert(Ids::outside()));
    }

    #[test]
    fn priorities_survive_the_word() {
        for priority in [Priority::Low, Priority::Normal, Priority::High] {
            assert_eq!(Priority::from_index(priority.index()), priority);
        }
        assert!(Priority::Low < Priority::High);
    }
}
