//! Looking again for a moment before going to sleep.

use sateen_base::prim::time::Duration;
use sateen_base::tsc;
use sateen_runtime::yield_now;
use std::sync::OnceLock;

/// So many others get their turn at most. With nobody there that is about what falling asleep and waking up costs both sides.
const TURNS: u32 = 16;
/// If others' turns take longer than this altogether, they are not those who would bring what is waited for.
const MOST: Duration = Duration::from_millis(1);

/// Some looks, between which others have a turn.
#[derive(Debug)]
pub(crate) struct SpinLimit {
    turns: u32,
    start: u64,
}

impl SpinLimit {
    pub(crate) fn new() -> Self {
        Self { turns: 0, start: tsc::now() }
    }

    /// Waits a little; false if it is time to sleep.
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
