//! How long a caller looks again and again before it sleeps.

use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{spin_loop, thread};
use sateen_base::tsc;
use sateen_sync::park;

/// The phase of a wait before the caller sleeps: about as long as sleeping and waking cost.
///
/// A thread pauses, longer each time, then yields its time slice, so that the other side gets on
/// when there are more threads than cores. A fiber has no such phase: suspending costs less than
/// looking on, and lets other tasks run.
pub(super) struct SpinPhase {
    /// Pauses of the next round; 0 before the first.
    pauses: u32,
    started: u64,
    /// The caller sleeps at once.
    skipped: bool,
}

impl SpinPhase {
    /// From here on the caller yields instead of pausing.
    const PAUSE_LIMIT: Duration = Duration::from_micros(4);
    /// From here on the caller sleeps.
    const SPIN_LIMIT: Duration = Duration::from_micros(20);
    /// Longest round, in pauses.
    const MAX_PAUSES: u32 = 64;

    /// Over at once if the caller is a fiber, or if `deadline` has passed.
    pub(super) fn new(deadline: Option<Instant>) -> Self {
        let skipped = park::suspends() || deadline.is_some_and(has_passed);
        Self { pauses: 0, started: 0, skipped }
    }

    /// Whether the caller sleeps at once.
    pub(super) fn is_over(&self) -> bool {
        self.skipped
    }

    /// Waits a moment; false if it is time to sleep.
    pub(super) fn pause(&mut self) -> bool {
        self.pause_unless(1, || false)
    }

    /// The same, but a round of pauses ends when `seen` returns true. The first takes `first`
    /// pauses.
    #[inline]
    pub(super) fn pause_unless(&mut self, first: u32, seen: impl Fn() -> bool) -> bool {
        if cfg!(loom) || self.skipped {
            return false;
        }
        if self.pauses == 0 {
            self.pauses = first;
            self.started = tsc::now();
            Self::round(first, seen);
            return true;
        }
        let spent = tsc::now().wrapping_sub(self.started);
        if spent < tsc::ticks(Self::PAUSE_LIMIT) {
            Self::round(self.pauses, seen);
            self.pauses = (self.pauses * 2).min(Self::MAX_PAUSES);
        } else if spent < tsc::ticks(Self::SPIN_LIMIT) {
            thread::yield_now();
        } else {
            return false;
        }
        true
    }

    #[inline(always)]
    fn round(pauses: u32, seen: impl Fn() -> bool) {
        for _ in 0..pauses {
            spin_loop();
            if seen() {
                return;
            }
        }
    }
}

/// Whether `deadline` has passed. In a model it passes at the first question: the interleavings
/// decide what a clock could.
pub(super) fn has_passed(deadline: Instant) -> bool {
    cfg!(loom) || Instant::now() >= deadline
}
