//! What `sateen-top` reads of a fiber, on a thread that never waits.

use super::Fiber;
use sateen_base::prim::Ordering;
use std::panic::Location;

impl Fiber {
    /// Whether it works for a task, which the fiber has described.
    pub(crate) fn has_task(&self) -> bool {
        // Ordering: Relaxed; only its presence is checked.
        !self.task.load(Ordering::Relaxed).is_null()
    }

    /// Calls `tell` with the name of the last task that began here, unless the name is being
    /// written.
    pub(crate) fn try_name(&self, tell: impl FnOnce(&str)) {
        if let Some(name) = self.name.try_lock()
            && let Some(name) = &*name
        {
            tell(name);
        }
    }

    /// Calls `f` with the name's lock held.
    #[cfg(test)]
    pub(crate) fn with_name_locked(&self, f: &dyn Fn()) {
        let _held = self.name.lock();
        f();
    }

    /// Where that task was spawned.
    pub(crate) fn spawned_at(&self) -> Option<&'static Location<'static>> {
        // Ordering: Relaxed, a hint.
        // SAFETY: null, or a static location.
        unsafe { self.location.load(Ordering::Relaxed).as_ref() }
    }
}
