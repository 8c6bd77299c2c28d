//! The spin phase of a locker before it queues.

use crate::hook;
use sateen_base::pause::pause;
use sateen_base::prim::thread;

/// The phase of a wait for a lock before the locker queues.
///
/// A thread pauses for 1, 2, 4 units of [`sateen_base::pause`] and so on, then yields its time
/// slice some times, so that the holder runs if the cores are oversubscribed. It checks rarely,
/// because each check takes the lock's line from the holder. A fiber pauses once, or not at all on
/// the only worker of its runtime: suspending is cheap, and often lets the holder run.
pub(crate) struct SpinPhase {
    /// How many of the next checks follow a pause.
    pauses: u32,
    /// How many checks follow a yield after that.
    yields: u32,
    /// The next pause, in units.
    units: u32,
}

impl SpinPhase {
    const PAUSES: u32 = 3;
    const YIELDS: u32 = 16;

    /// A phase for the calling context.
    pub(crate) fn new() -> Self {
        let (pauses, yields) = match hook::installed() {
            // A model should reach the steps after the phase.
            _ if cfg!(loom) => (0, 0),
            Some(blocker) => (u32::from(blocker.may_spin()), 0),
            None => (Self::PAUSES, Self::YIELDS),
        };
        Self { pauses, yields, units: 1 }
    }

    /// A phase for a caller that `blocks`, or for a future, which runs on its executor's thread: a
    /// yield would delay everything that runs there.
    pub(crate) fn of(blocks: bool) -> Self {
        let phase = Self::new();
        Self { yields: if blocks { phase.yields } else { 0 }, ..phase }
    }

    /// A finished phase.
    pub(crate) fn over() -> Self {
        Self { pauses: 0, yields: 0, units: 1 }
    }

    /// Waits for a moment. Returns false if the phase is over.
    pub(crate) fn wait(&mut self) -> bool {
        if self.pauses > 0 {
            self.pauses -= 1;
            pause(self.units);
            self.units *= 2;
        } else if self.yields > 0 {
            self.yields -= 1;
            thread::yield_now();
        } else {
            return false;
        }
        true
    }
}
