//! How fibers of a worker come and go.

use super::Worker;
use crate::context;
use crate::entry::Entry;
use crate::fiber::{Fiber, Switched};
use sateen_base::prim::{Ordering, thread};

impl Worker {
    /// Switches away from `fiber`, whose park word says `PARKED`, until it has been made ready.
    #[inline]
    pub(crate) fn suspend(&self, fiber: &Fiber) {
        self.counters.suspensions.bump();
        self.own.suspended.set(self.own.suspended.get() + 1);
        self.leave(fiber);
        self.own.suspended.set(self.own.suspended.get() - 1);
    }

    /// Switches to the root from `fiber`, which has made sure that it will be resumed.
    #[inline(always)]
    pub(super) fn leave(&self, fiber: &Fiber) {
        // Another join stack is in use from now on, with nothing public on it.
        self.publish(fiber);
        fiber.leave();
    }

    pub(crate) fn suspended(&self) -> usize {
        self.own.suspended.get()
    }

    /// Lets others have the worker: a fiber that can go on, or else one piece of new work. The caller
    /// goes on after those that can go on now. Returns at once if there is nothing else to run.
    #[inline(always)]
    pub(crate) fn yield_now(&self, fiber: &Fiber) {
        if fiber.keeps_thread() {
            return thread::yield_now();
        }
        self.take_inbox();
        if self.own.ready.get() == 0 {
            match self.pick().or_else(|| self.shared().take_injected()) {
                Some(entry) => self.set_next(entry),
                None => return,
            }
        }
        self.awaken(fiber);
        self.leave(fiber);
    }

    /// Runs `entry` now, on another stack; the caller goes on in its turn. If it must not leave its thread,
    /// `entry` waits instead.
    pub(crate) fn dispatch(&self, fiber: &Fiber, entry: Entry) {
        if fiber.keeps_thread() {
            return self.push_entry(entry);
        }
        self.set_next(entry);
        self.awaken(fiber);
        self.leave(fiber);
    }

    /// Runs `fiber` until it switches back. Root only.
    #[inline]
    pub(crate) fn run_fiber(&self, fiber: &Fiber) -> Switched {
        // Ordering: Release, see `current_fiber`.
        self.fiber.store(std::ptr::from_ref(fiber).cast_mut(), Ordering::Release);
        context::with(|c| c.set_fiber(Some((self, fiber))));
        // SAFETY: here and below, what runs next on this thread.
        let thread_id = unsafe { sateen_sync::park::set_context_id(fiber.context_id()) };
        let switched = fiber.resume();
        // SAFETY: as above.
        unsafe { sateen_sync::park::set_context_id(thread_id) };
        context::with(|c| c.set_fiber(None));
        switched
    }

    pub(crate) fn with_idle<R>(&self, f: impl FnOnce(&mut Vec<*const Fiber>) -> R) -> R {
        // SAFETY: worker's thread; `f` does not come back here.
        self.own.idle.with_mut(|idle| f(unsafe { &mut *idle }))
    }

    pub(crate) fn with_bare<R>(&self, f: impl FnOnce(&mut Vec<*const Fiber>) -> R) -> R {
        // SAFETY: worker's thread; `f` does not come back here.
        self.own.bare.with_mut(|bare| f(unsafe { &mut *bare }))
    }
}
