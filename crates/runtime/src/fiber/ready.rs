//! Since when a fiber, or the task that begins on it, can go on: for the times of tasks with names.

use super::Fiber;
use crate::task::Header;
use sateen_base::prim::Ordering;
use sateen_base::tsc;

impl Fiber {
    /// [`Fiber::describe`] for a task that begins, or a poll. A task with a name also notes how
    /// long it could have run.
    #[inline]
    pub(crate) fn begin_task(&self, task: &Header) {
        // Ordering: Relaxed, a hint.
        self.location.store(std::ptr::from_ref(task.location()).cast_mut(), Ordering::Relaxed);
        if task.has_extra() || self.has_name.get() {
            self.begin_named(task);
        }
    }

    #[cold]
    fn begin_named(&self, task: &Header) {
        self.set_name(task.name());
        task.note_running(self.worker());
    }

    /// The fiber is about to be suspended. Returns whether its task has a name, so that
    /// [`Fiber::note_resumed`] is to follow.
    #[inline]
    pub(crate) fn note_suspended(&self) -> bool {
        let named = self.running_name().is_some();
        // Ordering: Relaxed; the park word orders it before what makes the fiber ready. It is
        // written here alone.
        if named != self.timed.load(Ordering::Relaxed) {
            self.timed.store(named, Ordering::Relaxed);
        }
        named
    }

    /// The caller makes the fiber ready.
    #[inline]
    pub(crate) fn note_ready(&self) {
        // Ordering: Relaxed, as above; the inbox or the run queue orders the store.
        if self.timed.load(Ordering::Relaxed) {
            self.ready_at.store(tsc::now(), Ordering::Relaxed);
        }
    }

    /// The fiber goes on, and its task has a name.
    #[cold]
    pub(crate) fn note_resumed(&self) {
        let since = self.ready_at.load(Ordering::Relaxed);
        if let Some(name) = self.running_name() {
            self.worker().ready_times.add(name, since);
        }
    }

    /// The name of the task that runs here. Only the fiber asks.
    #[inline]
    fn running_name(&self) -> Option<&std::sync::Arc<str>> {
        // SAFETY: what runs here lies on this stack, and keeps its task.
        unsafe { self.running().as_ref()?.task.as_ref() }.and_then(Header::name)
    }
}
