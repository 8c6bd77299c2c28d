//! Waits that keep the worker's thread: [`no_suspend`](crate::no_suspend).

use super::Worker;
use crate::fiber::Fiber;
use crate::forked;
use crate::request_word::HUNGRY;
use sateen_base::prim::time::Instant;
use sateen_sync::park::ThreadParker;

impl Worker {
    /// Blocks the thread on `thread`, until `deadline` at most, with `fiber`'s frames on top. Then, `withdraw`
    /// takes the wait back; false: a token is on its way all the same.
    pub(crate) fn block(
        &self,
        fiber: &Fiber,
        thread: &ThreadParker,
        deadline: Option<Instant>,
        withdraw: impl Fn() -> bool,
    ) {
        self.counters.suspensions.bump();
        self.publish(fiber);
        self.announce_timer();
        let shared = self.shared();
        shared.substitutes.block(shared);
        self.sleep_blocked(thread, deadline, withdraw);
        shared.substitutes.unblock(shared);
    }

    fn sleep_blocked(
        &self,
        thread: &ThreadParker,
        deadline: Option<Instant>,
        withdraw: impl Fn() -> bool,
    ) {
        loop {
            self.shared().foreign.send_away(self.shared());
            // Others fire our timers too, but there may be none.
            let next = [deadline, self.timers.earliest()].into_iter().flatten().min();
            let Some(next) = next else {
                if self.shared().is_orphan() {
                    forked::end_process();
                }
                return thread.park();
            };
            if thread.park_timeout(next.saturating_duration_since(Instant::now())) {
                return;
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                if !withdraw() {
                    thread.park();
                }
                return;
            }
            self.fire_timers();
        }
    }

    /// Others may take all that the worker has to give, while it does nothing for a while or something
    /// else.
    #[inline]
    pub(super) fn publish(&self, fiber: &Fiber) {
        if fiber.join_stack().publish_for_suspension() {
            self.list_branches(fiber);
        }
        // Nothing public may be left on the join stack in use, now or when it has been emptied.
        if self.shared().sleep.has_sleepers() {
            self.request(HUNGRY);
        }
        self.own.ready_seen.take();
    }
}
