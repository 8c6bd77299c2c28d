//! The behaviour of a substitute, which works only while another worker is blocked.
//!
//! `substitutes.rs` decides how many there are and when they are needed.

use super::Owner;
use crate::metrics::Doing;
use crate::stall::Rest;
use sateen_base::prim::time::Instant;

impl Owner {
    /// Its slot among the substitutes, if it is one.
    #[inline]
    pub(crate) fn slot(&self) -> Option<usize> {
        self.index().checked_sub(self.shared().regular)
    }

    /// Whether it is a surplus substitute.
    // Forced inline, like the root's steps around it, because a call costs a tenth of a switch.
    #[inline(always)]
    pub(crate) fn is_surplus(&self) -> bool {
        self.slot().is_some_and(|slot| self.shared().substitutes.is_surplus(slot))
    }

    /// Lets a surplus substitute rest. Returns false for all other workers.
    #[inline]
    pub(crate) fn rest(&self) -> bool {
        let surplus = self.slot().filter(|&slot| self.shared().substitutes.is_surplus(slot));
        surplus.inspect(|&slot| self.rest_slow(slot)).is_some()
    }

    #[cold]
    fn rest_slow(&self, slot: usize) {
        let shared = self.shared();
        // A notification, or a push that relied on this worker's search, may have been for work
        // that others can do. It may also have watched timers, or armed one.
        self.pass_on();
        self.announce_timer();
        let mine = || self.has_own_arrivals() || self.has_ready() || self.has_deferred();
        if mine() {
            return;
        }
        if self.suspended() == 0 {
            return self.while_doing(Doing::Sleep, || shared.substitutes.lie_down(slot, shared));
        }
        let wanted = || {
            mine()
                || self.has_stack_to_give()
                || shared.substitutes.is_active(slot)
                || shared.is_stopped()
        };
        if !shared.sleep.announce(self.index(), wanted) {
            return;
        }
        shared.stall.rests(Rest::Sleep);
        let next = self.timers.earliest();
        let limit = next.map(|at| at.saturating_duration_since(Instant::now()));
        let watch = shared.watch.as_ref();
        let asked = watch.is_some_and(|watch| watch.rests(shared));
        let sleep = || shared.sleep.sleep(self.index(), limit);
        if asked || !self.while_doing(Doing::Sleep, sleep) {
            shared.sleep.cancel(self.index());
        }
        shared.stall.wakes(Rest::Sleep);
        if !asked {
            watch.inspect(|watch| watch.wakes());
        }
        self.fire_timers();
        // It may have been woken in order to watch. Its next step announces that.
        self.stop_watching();
    }
}
