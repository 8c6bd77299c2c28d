//! The items that policies order.

use super::custom::give_back;
use crate::entry::{Entry, Work};
use crate::task::{Header, Priority, TaskId};

/// Something that can run: an unstarted task, a ready fiber, or a future that was spawned or woken.
///
/// A policy must return it from [`pick_next`](super::Policy::pick_next) at some time. If the policy
/// drops it instead, the calling worker runs it when the policy gives it nothing, or at the latest
/// in a turn now and then. A started task goes to its own worker first.
#[derive(Debug)]
#[must_use = "a runnable that is not returned runs late"]
pub struct Runnable(Option<Entry>);

impl Runnable {
    #[inline]
    pub(crate) fn new(entry: Entry) -> Self {
        Self(Some(entry))
    }

    #[inline]
    pub(crate) fn into_entry(mut self) -> Entry {
        match self.0.take() {
            Some(entry) => entry,
            None => sateen_base::abort_with("an empty runnable"),
        }
    }

    /// Whether only its own worker may run it, because it has started there.
    #[inline]
    pub fn is_pinned(&self) -> bool {
        self.0.is_some_and(Entry::is_fiber)
    }

    /// The task; `None` for work without a task.
    fn task(&self) -> Option<&Header> {
        match self.0?.decode() {
            // SAFETY: an unstarted task's entry keeps its frame.
            Work::Task(header) => Some(unsafe { &*header.as_ptr() }),
            // SAFETY: a queued future's entry keeps its frame, which the header starts.
            Work::Future(head) => Some(unsafe { &*head.cast::<Header>().as_ptr() }),
            // SAFETY: fibers live as long as the runtime; a ready one keeps its task.
            Work::Fiber(fiber) => unsafe { (*fiber).task().as_ref() },
            _ => None,
        }
    }

    /// The task's number; `None` for spawns of scopes.
    pub fn id(&self) -> Option<TaskId> {
        self.task().map(Header::id)
    }

    /// The task's name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.task()?.name().map(|name| &**name)
    }

    /// Its priority.
    #[inline]
    pub fn priority(&self) -> Priority {
        self.task().map_or(Priority::Normal, Header::priority)
    }

    /// The number that the task was given for policies
    /// ([`Spawn::property`](crate::Spawn::property)), or 0. It may change at any time. So an order
    /// must rely on what [`awakened`](super::Policy::awakened) read and
    /// [`property_change`](super::Policy::property_change) reported.
    pub fn property(&self) -> u64 {
        self.task().map_or(0, Header::property)
    }
}

impl Drop for Runnable {
    fn drop(&mut self) {
        if let Some(entry) = self.0.take() {
            give_back(entry);
        }
    }
}
