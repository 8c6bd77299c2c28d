//! How long a thread outside of the runtime spins for the end of its call before it sleeps.
//!
//! A sleep and its end cost 5 to 30 µs on both sides, more than many a loop takes. So the thread
//! remembers how long its calls have taken of late. It spins for a call that should be over soon,
//! and gives way all the time, because a worker may want this very core. While its calls take long
//! it goes to sleep at once.

use sateen_base::prim::time::Duration;
use sateen_base::prim::{spin_loop, thread};
use sateen_base::tsc;
use std::cell::Cell;

/// The longest spin.
const LONGEST: Duration = Duration::from_micros(50);
/// Pauses between two looks, and looks between two turns of giving way.
const PAUSES: u32 = 8;
const LOOKS_PER_YIELD: u32 = 8;

thread_local! {
    /// About how many ticks the thread's latest calls took, up to twice the longest spin.
    static USUAL: Cell<u64> = const { Cell::new(0) };
}

/// Waits for the end of a call with `wait`, if [spinning](self) does not bring it about.
pub(crate) fn spin_or(is_over: impl Fn() -> bool, wait: impl FnOnce()) {
    let began = tsc::now();
    let waited = || tsc::now().saturating_sub(began);
    let longest = tsc::ticks(LONGEST);
    if USUAL.get() <= longest {
        let mut looks = 0u32;
        while !is_over() && waited() < longest {
            looks += 1;
            if looks.is_multiple_of(LOOKS_PER_YIELD) {
                thread::yield_now();
            }
            for _ in 0..PAUSES {
                spin_loop();
            }
        }
    }
    wait();
    USUAL.set((3 * USUAL.get() + waited().min(2 * longest)) / 4);
}
