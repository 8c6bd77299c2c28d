//! What a worker does that stands in for others: see `substitutes.rs`.

use super::Worker;
use crate::entry::Entry;
use crate::stall::Rest;
use sateen_base::prim::time::Instant;

impl Worker {
    /// Its place among the substitutes, if it is one.
    #[inline]
    fn substitute(&self) -> Option<usize> {
        self.index.checked_sub(self.shared().regular)
    }

    /// [`Worker::pick`], or, of a substitute that is not needed, what only it can do.
    // By force, like the root's steps around it: a call costs a tenth of a switch.
    #[inline(always)]
    pub(crate) fn pick_next(&self) -> Option<Entry> {
        match self.substitute() {
            Some(slot) if self.shared().substitutes.is_surplus(slot) => self.pick_last(),
            _ => self.pick(),
        }
    }

    #[cold]
    #[inline(never)]
    fn pick_last(&self) -> Option<Entry> {
        // What the policy holds is its own, or for all.
        if self.policy.stealing().is_some() {
            return self.pick();
        }
        self.pick_fiber().or_else(|| self.pick_aside())
    }

    /// A substitute that is not needed rests; false for all others.
    #[inline]
    pub(crate) fn rest(&self) -> bool {
        let surplus = self.substitute().filter(|&slot| self.shared().substitutes.is_surplus(slot));
        surplus.inspect(|&slot| self.rest_slow(slot)).is_some()
    }

    #[cold]
    fn rest_slow(&self, slot: usize) {
        let shared = self.shared();
        // What was left to it as one who searches, or was woken.
        self.pass_on();
        let mine = || self.has_own_arrivals() || self.has_ready() || self.has_deferred();
        if mine() {
            return;
        }
        if self.suspended() == 0 {
            return shared.substitutes.lie_down(slot, shared);
        }
        let wanted = || {
            mine()
                || self.has_stack_to_give()
                || shared.substitutes.is_active(slot)
                || shared.is_stopped()
        };
        if !shared.sleep.announce(self.index, wanted) {
            return;
        }
        shared.stall.rests(Rest::Sleep);
        self.announce_timer();
        let next = self.timers.earliest();
        let limit = next.map(|at| at.saturating_duration_since(Instant::now()));
        let watch = shared.watch.as_ref();
        let asked = watch.is_some_and(|watch| watch.rests(shared));
        if asked || !shared.sleep.sleep(self.index, limit) {
            shared.sleep.cancel(self.index);
        }
        shared.stall.wakes(Rest::Sleep);
        if !asked {
            watch.inspect(|watch| watch.wakes());
        }
        self.fire_timers();
        self.stop_watching();
        self.announce_timer();
    }
}
