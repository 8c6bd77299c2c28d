//! Records since when a fiber or its task is ready, for the metrics of named tasks.

use super::Fiber;
use crate::task::Header;
use sateen_base::prim::Ordering;
use sateen_base::tsc;

impl Fiber {
    /// [`Fiber::describe`] at the beginning of a task or a poll. A named task also records how long
    /// it was ready.
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

    /// Called before the fiber is suspended. Returns whether its task has a name, in which case
    /// [`Fiber::note_resumed`] must follow.
    #[inline]
    pub(crate) fn note_suspended(&self) -> bool {
        let named = self.running_name().is_some();
        // Ordering: Relaxed; the park word orders it before whatever makes the fiber ready. It is
        // written only here.
        if named != self.timed.load(Ordering::Relaxed) {
            self.timed.store(named, Ordering::Relaxed);
        }
        named
    }

    /// Called by the thread that makes the fiber ready.
    #[inline]
    pub(crate) fn note_ready(&self) {
        // Ordering: Relaxed, as above; the inbox or the run queue orders the store.
        if self.timed.load(Ordering::Relaxed) {
            self.ready_at.store(tsc::now(), Ordering::Relaxed);
        }
    }

    /// Called when the fiber resumes and its task has a name.
    #[cold]
    pub(crate) fn note_resumed(&self) {
        let since = self.ready_at.load(Ordering::Relaxed);
        if let Some(name) = self.running_name() {
            self.worker().ready_times.add(name, since);
        }
    }

    /// The name of the task that runs here. Only the fiber calls this.
    #[inline]
    fn running_name(&self) -> Option<&std::sync::Arc<str>> {
        // SAFETY: what runs here lies on this stack, and keeps its task alive.
        unsafe { self.running().as_ref()?.task.as_ref() }.and_then(Header::name)
    }
}
