//! Waits that keep the worker's thread: [`no_suspend`](crate::no_suspend).

use super::Owner;
use crate::fiber::Fiber;
use crate::forked;
use sateen_base::prim::time::Instant;
use sateen_sync::park::ThreadParker;

impl Owner {
    /// Blocks the thread on `thread`, until `deadline` at most, with `fiber`'s frames on top. After
    /// the deadline `withdraw` takes the wait back; false: a token is on its way all the same.
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
        if shared.substitutes.count() == 0 {
            // A sleeping worker may have the core.
            shared.sleep.begin_block();
            self.pass_on();
            self.sleep_blocked(thread, deadline, withdraw);
            return shared.sleep.end_block();
        }
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
            // Other workers fire these timers too, but there may be none.
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
}
