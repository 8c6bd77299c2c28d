//! Suspends, resumes and yields fibers of a worker.

use super::{After, HUNGRY, Owner, Pop, Push};
use crate::context;
use crate::entry::Entry;
use crate::fiber::{Fiber, Switched};
use crate::spans;
use crate::trace;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Ordering, thread};

/// The longest that a yield in a strict runtime waits for a substitute to start something.
const TURN: Duration = Duration::from_millis(5);
/// How often it checks.
const TURN_LOOK: Duration = Duration::from_micros(10);
/// After this many yields in a row without anything started, one more substitute starts.
const PATIENCE: u32 = 3;

impl Owner {
    /// Switches away from `fiber`, whose park word is `PARKED`, until it is made ready.
    #[inline]
    pub(crate) fn suspend(&self, fiber: &Fiber) {
        self.counters.suspensions.bump();
        self.set_suspended(self.suspended() + 1);
        let named = fiber.note_suspended();
        self.leave(fiber);
        self.set_suspended(self.suspended() - 1);
        self.counters.resumptions.bump();
        if named {
            fiber.note_resumed();
        }
    }

    #[inline(always)]
    fn set_suspended(&self, count: usize) {
        // Ordering: Relaxed, see `suspended_len`.
        self.suspended.store(count, Ordering::Relaxed);
    }

    /// Switches to the root from `fiber`, which has ensured that it will be resumed.
    #[inline(always)]
    pub(super) fn leave(&self, fiber: &Fiber) {
        // Another join stack is in use from now on, with nothing public on it.
        self.publish(fiber);
        trace::suspended(fiber);
        fiber.leave();
        trace::resumed(fiber);
    }

    /// Publishes everything that the worker can give, before it turns to something else or to
    /// nothing.
    #[inline]
    pub(crate) fn publish(&self, fiber: &Fiber) {
        if fiber.join_stack().publish_for_suspension() {
            self.list_branches(fiber);
        }
        // The join stack in use must have nothing public, now or when it has been emptied.
        if self.shared().sleep.has_sleepers() {
            self.request(HUNGRY);
        }
        self.ready_seen.take();
    }

    /// Number of fibers that wait for a wake-up.
    #[inline]
    pub(crate) fn suspended(&self) -> usize {
        self.suspended_len()
    }

    /// Yields the worker to another fiber or one piece of new work. The caller resumes after all
    /// fibers that are ready now. Returns at once if there is nothing else to run, except in a
    /// `CurrentThread`, where it always switches to the root.
    #[inline(always)]
    pub(crate) fn yield_now(&self, fiber: &Fiber) {
        if fiber.keeps_thread() {
            return self.yield_thread(fiber);
        }
        let spans = spans::leave();
        self.yield_in_turn(fiber);
        spans.enter();
    }

    #[inline(always)]
    fn yield_in_turn(&self, fiber: &Fiber) {
        self.take_inbox();
        if self.ready_len() == 0 {
            match self.pop(Pop::Any).or_else(|| self.shared().take_injected()) {
                Some(entry) => self.set_next(entry),
                // A thread that runs its tasks now and then gets its turn in any case.
                None if self.shared().pumped => {}
                None => return,
            }
        }
        self.resume(fiber, After::Yield);
        self.leave(fiber);
    }

    /// Yields without leaving the thread. In a strict runtime a substitute starts waiting work that
    /// no worker takes.
    #[cold]
    fn yield_thread(&self, fiber: &Fiber) {
        thread::yield_now();
        let shared = self.shared();
        if !shared.is_strict() {
            return;
        }
        self.publish(fiber);
        let others_look = || shared.sleep.has_sleepers() || shared.sleep.searching() != 0;
        if !shared.has_stealable() || others_look() {
            return;
        }
        let forced = fiber.yields_in_vain(PATIENCE, || shared.started());
        let Some(room) = shared.substitutes.make_room(shared, forced) else { return };
        let started = || shared.workers[shared.regular + room.slot].started();
        let (before, end) = (started(), Instant::now() + TURN);
        let works = || shared.substitutes.is_active(room.slot) && shared.has_stealable();
        while started() == before && works() && Instant::now() < end {
            thread::sleep(TURN_LOOK);
        }
        shared.substitutes.leave_room(shared, room);
    }

    /// Runs `entry` now, on another stack; the caller resumes in its turn. A caller that keeps its
    /// thread continues at once, and `entry` waits instead.
    pub(crate) fn dispatch(&self, fiber: &Fiber, entry: Entry) {
        if fiber.keeps_thread() {
            return self.push(entry, Push::Other);
        }
        let spans = spans::leave();
        self.set_next(entry);
        self.resume(fiber, After::Yield);
        self.leave(fiber);
        spans.enter();
    }

    /// Makes `fiber` the one that the worker runs.
    #[inline]
    pub(crate) fn set_current_fiber(&self, fiber: &Fiber) {
        // Ordering: Release, see `current_fiber`.
        self.fiber.store(std::ptr::from_ref(fiber).cast_mut(), Ordering::Release);
        context::with(|c| c.set_fiber(Some((self, fiber))));
    }

    /// Runs `fiber` until it switches back. Root only.
    #[inline]
    pub(crate) fn run_fiber(&self, fiber: &Fiber) -> Switched {
        self.set_current_fiber(fiber);
        // SAFETY: here and below, what runs next on this thread.
        let thread_id = unsafe { sateen_sync::park::set_context_id(fiber.context_id()) };
        let switched = fiber.run();
        // SAFETY: as above.
        unsafe { sateen_sync::park::set_context_id(thread_id) };
        context::with(|c| c.set_fiber(None));
        switched
    }

    /// Calls `f` with the fibers at the base of their loops.
    pub(crate) fn with_idle<R>(&self, f: impl FnOnce(&mut Vec<*const Fiber>) -> R) -> R {
        // SAFETY: one thread has the owner, and `f` does not come back here.
        self.idle.with_mut(|idle| f(unsafe { &mut *idle }))
    }

    /// Calls `f` with the fibers that have no stack.
    pub(crate) fn with_bare<R>(&self, f: impl FnOnce(&mut Vec<*const Fiber>) -> R) -> R {
        // SAFETY: one thread has the owner, and `f` does not come back here.
        self.bare.with_mut(|bare| f(unsafe { &mut *bare }))
    }
}
