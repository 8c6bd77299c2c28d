//! How often a thread looks again before it goes to sleep.

use sateen_base::prim::time::Duration;
use sateen_base::tsc;
use sateen_runtime::yield_now;
use std::sync::OnceLock;

/// At most this many yields. Without other fibers or threads they take about as long as falling
/// asleep and waking up.
const TURNS: u32 = 16;
/// If the yields take longer than this altogether, the others are not about to bring what the
/// caller waits for.
const MOST: Duration = Duration::from_millis(1);

/// A limited number of looks, between which others have a turn.
#[derive(Debug)]
pub(crate) struct SpinLimit {
    turns: u32,
    start: u64,
}

impl SpinLimit {
    pub(crate) fn new() -> Self {
        Self { turns: 0, start: tsc::now() }
    }

    /// Yields once. Returns false if it is time to sleep.
    pub(crate) fn spin(&mut self) -> bool {
        static MOST_TICKS: OnceLock<u64> = OnceLock::new();
        let most = *MOST_TICKS.get_or_init(|| tsc::ticks(MOST));
        self.turns += 1;
        if self.turns > TURNS || tsc::now().saturating_sub(self.start) > most {
            return false;
        }
        yield_now();
        true
    }
}
