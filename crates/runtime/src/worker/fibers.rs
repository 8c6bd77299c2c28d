//! How fibers of a worker come and go.

use super::{After, HUNGRY, Owner, Pop, Push};
use crate::context;
use crate::entry::Entry;
use crate::fiber::{Fiber, Switched};
use crate::spans;
use crate::trace;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Ordering, thread};

/// How long a yield in a strict runtime waits at most until a substitute has started something.
const TURN: Duration = Duration::from_millis(5);
/// How often it looks.
const TURN_LOOK: Duration = Duration::from_micros(10);
/// After so many yields in a row, during which nothing was started, there is one substitute more.
const PATIENCE: u32 = 3;

impl Owner {
    /// Switches away from `fiber`, whose park word says `PARKED`, until it has been made ready.
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

    /// Switches to the root from `fiber`, which has made sure that it will be resumed.
    #[inline(always)]
    pub(super) fn leave(&self, fiber: &Fiber) {
        // Another join stack is in use from now on, with nothing public on it.
        self.publish(fiber);
        trace::suspended(fiber);
        fiber.leave();
        trace::resumed(fiber);
    }

    /// Lets others take all that the worker has to give, before it turns to something else or to
    /// nothing.
    #[inline]
    pub(crate) fn publish(&self, fiber: &Fiber) {
        if fiber.join_stack().publish_for_suspension() {
            self.list_branches(fiber);
        }
        // Nothing public may be left on the join stack in use, now or when it has been emptied.
        if self.shared().sleep.has_sleepers() {
            self.request(HUNGRY);
        }
        self.ready_seen.take();
    }

    /// How many fibers wait for a wake-up.
    #[inline]
    pub(crate) fn suspended(&self) -> usize {
        self.suspended_len()
    }

    /// Lets another fiber or one piece of new work have the worker. The caller goes on after the
    /// fibers that can go on now. Returns at once if there is nothing else to run, except to the
    /// root of a runtime that is the thread.
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
                // A thread that runs its tasks now and then gets its turn all the same.
                None if self.shared().pumped => {}
                None => return,
            }
        }
        self.resume(fiber, After::Yield);
        self.leave(fiber);
    }

    /// Gives way without leaving the thread. In a strict runtime a substitute starts what waits to
    /// start and finds no worker.
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

    /// Runs `entry` now, on another stack; the caller goes on in its turn. A caller that keeps its
    /// thread goes on at once, and `entry` waits instead.
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

    /// `fiber` is what the worker runs from now on.
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

    /// Calls `f` with the fibers that are at the base of their loops.
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
