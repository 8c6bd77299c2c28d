//! The blocker through which waits of `sateen-sync` suspend a fiber.

use super::Fiber;
use crate::context;
use crate::waker;
use crate::worker::Owner;
use sateen_base::prim::Arc;
use sateen_base::prim::time::Instant;
use sateen_sync::park::{Awaited, Blocker, Identity};
use sateen_sync::timer::{Timer, TimerQueue};
use std::task::Waker;

/// The hook that makes `sateen-sync` suspend fibers.
pub(crate) struct Suspend;

impl Suspend {
    fn fiber() -> &'static Fiber {
        match context::fiber() {
            Some(fiber) => fiber,
            None => sateen_base::abort_with("a worker's root blocked"),
        }
    }

    fn owner() -> &'static Owner {
        // SAFETY: the caller runs on that fiber.
        unsafe { Self::fiber().owner() }
    }
}

// SAFETY: fibers are resumed on their worker's thread. `check_interrupted` does not unwind a masked
// fiber, and nothing else unwinds here.
unsafe impl Blocker for Suspend {
    fn waker(&self) -> Waker {
        waker::of(Self::fiber())
    }

    fn park(&self) {
        let fiber = Self::fiber();
        fiber.check_interrupted();
        fiber.park_here();
        fiber.check_interrupted();
    }

    fn park_until(&self, deadline: Instant) {
        let fiber = Self::fiber();
        fiber.check_interrupted();
        if fiber.keeps_thread() {
            let shared = fiber.shared();
            shared.timed_waits.enter();
            fiber.block(Some(deadline));
            shared.timed_waits.leave();
            return fiber.check_interrupted();
        }
        let mut timer = std::pin::pin!(Timer::new(&*fiber.worker().timers));
        if timer.as_mut().arm(deadline, self.waker()) {
            Self::owner().note_timer();
        }
        fiber.park_here();
        timer.disarm();
        fiber.check_interrupted();
    }

    fn waits_for(&self, what: Option<Awaited>) {
        Self::fiber().waits_for(what);
    }

    fn timers(&self) -> Option<Arc<TimerQueue>> {
        Some(Arc::clone(&Self::fiber().worker().timers))
    }

    fn earlier_timer(&self) {
        Self::owner().note_timer_and_go_on();
    }

    fn mask(&self) {
        Self::fiber().mask();
    }

    unsafe fn unmask(&self) {
        // SAFETY: passed on.
        unsafe { Self::fiber().unmask() };
    }

    fn may_spin(&self) -> bool {
        let fiber = Self::fiber();
        fiber.shared().regular > 1 || fiber.keeps_thread()
    }

    fn identity(&self) -> Option<&Identity> {
        context::fiber()?.identity()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Runtime;

    #[test]
    fn a_pause_is_of_use_where_another_thread_can_act() {
        for (workers, keeps_threads, expected) in
            [(1, false, false), (1, true, true), (2, false, true)]
        {
            let builder = Runtime::builder().workers(workers).keep_threads(keeps_threads);
            let runtime = builder.build().expect("a runtime");
            let spins = runtime.spawn(|| Suspend.may_spin()).join().expect("no panic");
            assert_eq!(spins, expected, "{workers} workers, kept threads: {keeps_threads}");
        }
    }
}
