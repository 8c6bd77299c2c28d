//! How long a thread outside of the runtime spins for the end of its call before it sleeps.
//!
//! A sleep and its end cost 5 to 30 µs on both sides, more than many a loop takes. So the thread
//! remembers how long its calls have taken of late. It spins for a call that should be over soon,
//! and gives way all the time, because a worker may want this very core. While its calls take long
//! it goes to sleep at once.
//!
//! Short calls often come one after another. So the workers hear of each, and all that have a core
//! search for a while when they run out of work, not half of them. Otherwise each call would wake
//! a worker that has just fallen asleep.

use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicU64, Ordering, spin_loop, thread};
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

/// What workers know of short calls from outside. A hint, which guards nothing: all accesses are
/// relaxed.
#[derive(Debug)]
pub(crate) struct ShortCalls {
    /// When the latest of them began, in ticks. 0: there was none.
    latest: AtomicU64,
}

impl ShortCalls {
    pub(crate) fn new() -> Self {
        Self { latest: AtomicU64::new(0) }
    }

    fn begins(&self, now: u64) {
        self.latest.store(now, Ordering::Relaxed);
    }

    /// Whether one has begun so recently that the next may come soon.
    pub(crate) fn go_on(&self) -> bool {
        let latest = self.latest.load(Ordering::Relaxed);
        latest != 0 && tsc::now().wrapping_sub(latest) < 2 * tsc::ticks(LONGEST)
    }
}

/// Waits for the end of a call with `wait`, if [spinning](self) does not bring it about. `calls` is
/// what the workers that run it know of such calls.
pub(crate) fn spin_or(calls: Option<&ShortCalls>, is_over: impl Fn() -> bool, wait: impl FnOnce()) {
    let began = tsc::now();
    let waited = || tsc::now().saturating_sub(began);
    let longest = tsc::ticks(LONGEST);
    if USUAL.get() <= longest {
        calls.inspect(|calls| calls.begins(began));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_calls_are_told_of_and_long_ones_are_not() {
        let calls = ShortCalls::new();
        assert!(!calls.go_on(), "there was none");
        USUAL.set(0);
        let mut told = false;
        spin_or(Some(&calls), || true, || told = calls.latest.load(Ordering::Relaxed) != 0);
        assert!(told, "a short call is not known while it runs");

        let calls = ShortCalls::new();
        USUAL.set(2 * tsc::ticks(LONGEST));
        spin_or(Some(&calls), || true, || ());
        assert!(!calls.go_on(), "a long call keeps workers awake");
    }
}
