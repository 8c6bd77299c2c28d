//! What `sateen-top` sees of a fiber, from a thread that waits for nobody.

use super::Fiber;
use sateen_base::prim::Ordering;
use std::panic::Location;

impl Fiber {
    /// Whether it works for a task, which the fiber has described.
    pub(crate) fn has_task(&self) -> bool {
        // Ordering: Relaxed; only whether there is one is looked at.
        !self.task.load(Ordering::Relaxed).is_null()
    }

    /// Calls `tell` with the name of the last task that began here, if nobody writes it now.
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
        // SAFETY: null, or a location of the program's text.
        unsafe { self.location.load(Ordering::Relaxed).as_ref() }
    }
}
