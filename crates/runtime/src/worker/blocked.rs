//! Waits that keep the worker's thread: [`no_suspend`](crate::no_suspend).

use super::Owner;
use crate::context;
use crate::fiber::Fiber;
use crate::forked;
use crate::metrics::Doing;
use crate::trace;
use sateen_base::prim::time::{Duration, Instant};
use sateen_sync::park::ThreadParker;

/// In a strict runtime with a limit on stacks: how long nothing must start before waiting work may
/// exceed the limit.
const STANDSTILL: Duration = Duration::from_millis(40);

impl Owner {
    /// Blocks the thread on `thread`, until `deadline` at most, with `fiber`'s frames on top. After
    /// the deadline `withdraw` cancels the wait; if it returns false, a token is already on its
    /// way.
    pub(crate) fn block(
        &self,
        fiber: &Fiber,
        thread: &ThreadParker,
        deadline: Option<Instant>,
        withdraw: impl Fn() -> bool,
    ) {
        self.counters.suspensions.bump();
        trace::suspended(fiber);
        self.block_counted(fiber, thread, deadline, withdraw);
        trace::resumed(fiber);
        self.counters.resumptions.bump();
    }

    fn block_counted(
        &self,
        fiber: &Fiber,
        thread: &ThreadParker,
        deadline: Option<Instant>,
        withdraw: impl Fn() -> bool,
    ) {
        self.publish(fiber);
        self.announce_timer();
        let shared = self.shared();
        if shared.substitutes.count() == 0 {
            // Leave the core to a sleeping worker.
            shared.sleep.begin_block();
            self.pass_on();
            self.sleep_blocked(thread, deadline, withdraw);
            return shared.sleep.end_block();
        }
        shared.substitutes.block(shared);
        // In a strict runtime it counts as a resting worker: see `report/watch.rs`.
        let rests = deadline.is_none() && shared.is_strict() && self.timers.is_empty();
        let watch = shared.watch.as_ref().filter(|_| rests);
        fiber.set_asleep(true);
        if shared.is_strict() {
            self.set_asleep(true);
            // The fiber is parked, so user code called here must not wait on it.
            context::call_off_fiber(|| self.answer_surveys());
        }
        // The second call finds that the workers were asked.
        while watch.is_some_and(|watch| watch.rests(shared)) {}
        self.sleep_blocked(thread, deadline, withdraw);
        watch.inspect(|watch| watch.wakes());
        if shared.is_strict() {
            self.set_asleep(false);
        }
        fiber.set_asleep(false);
        shared.substitutes.unblock(shared);
    }

    fn sleep_blocked(
        &self,
        thread: &ThreadParker,
        deadline: Option<Instant>,
        withdraw: impl Fn() -> bool,
    ) {
        let before = self.turn_to(Doing::Sleep);
        self.sleep_until_unparked(thread, deadline, withdraw);
        self.turn_to(before);
    }

    fn sleep_until_unparked(
        &self,
        thread: &ThreadParker,
        deadline: Option<Instant>,
        withdraw: impl Fn() -> bool,
    ) {
        let shared = self.shared();
        let mut started = shared.substitutes.has_reserve().then(|| shared.started());
        loop {
            shared.foreign.send_away(shared);
            // Other workers fire these timers too, but there may be none.
            let look = started.map(|_| Instant::now() + STANDSTILL);
            let next = [deadline, self.timers.earliest(), look].into_iter().flatten().min();
            let Some(next) = next else {
                if shared.is_orphan() {
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
            if look.is_some_and(|look| look <= Instant::now()) {
                let before = started.replace(shared.started());
                if before == started && shared.has_stealable() {
                    shared.substitutes.start_beyond(shared);
                }
            }
        }
    }
}
