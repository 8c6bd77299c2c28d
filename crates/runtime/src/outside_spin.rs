//! Spinning by a thread outside of the runtime that waits for its call to end.
//!
//! Sleeping and waking cost 5 to 30 µs on both sides, which is longer than many loops take. So each
//! thread tracks how long its recent calls took. It spins if the call should end soon, and yields
//! between spins because a worker may need this core. If recent calls were long, the thread sleeps
//! at once.
//!
//! When the call ends, the caller often shares a core with a worker that searches, and the kernel
//! takes up to 20 µs to preempt that worker. So during a short call, searching workers yield in
//! each round if they are not oversubscribed. The caller then gets its core at once.
//!
//! Calls often come in series. During a series, all workers that have a core search when they run
//! out of work, not half of them. Otherwise each call would wake a worker that has just fallen
//! asleep.

use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicBool, AtomicU64, Ordering, spin_loop, thread};
use sateen_base::tsc;
use std::cell::Cell;

/// The longest spin if a core may be free for the caller.
const LONGEST: Duration = Duration::from_micros(50);
/// The longest spin if workers fill all cores. It costs them little.
const LONGEST_SHARED: Duration = Duration::from_micros(100);
/// Pauses between two checks, and checks between two yields.
const PAUSES: u32 = 8;
const LOOKS_PER_YIELD: u32 = 8;

thread_local! {
    /// Moving average of the thread's call times in ticks, up to twice the longest spin.
    static USUAL: Cell<u64> = const { Cell::new(0) };
}

/// Workers stop expecting the end of a call after this time.
const SHORT: Duration = Duration::from_micros(200);
/// A call that starts this soon after another continues a series.
const SOON: Duration = Duration::from_micros(100);
/// In place of a time: a call is in progress.
const NOW: u64 = u64::MAX;

/// What workers know of calls from outside. These are hints, so all accesses are relaxed.
#[derive(Debug)]
pub(crate) struct Calls {
    /// When the latest call began, in ticks.
    began: AtomicU64,
    /// When the latest call ended, in ticks, or [`NOW`]; 0 before the first call.
    ended: AtomicU64,
    /// Whether the latest call came soon after another.
    follows: AtomicBool,
    /// The longest spin of a caller.
    longest: Duration,
}

/// A call in progress, until dropped.
struct UnderWay<'a>(&'a Calls);

impl Calls {
    /// `fills_cores`: the runtime has a worker for each core.
    pub(crate) fn new(fills_cores: bool) -> Self {
        let longest = if fills_cores { LONGEST_SHARED } else { LONGEST };
        let (began, ended) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { began, ended, follows: AtomicBool::new(false), longest }
    }

    fn begin(&self, now: u64) -> UnderWay<'_> {
        self.follows.store(self.is_soon(), Ordering::Relaxed);
        self.began.store(now, Ordering::Relaxed);
        self.ended.store(NOW, Ordering::Relaxed);
        UnderWay(self)
    }

    /// Whether a call is in progress or has just ended.
    fn is_soon(&self) -> bool {
        match self.ended.load(Ordering::Relaxed) {
            0 => false,
            NOW => true,
            ended => tsc::now().wrapping_sub(ended) < tsc::ticks(SOON),
        }
    }

    /// Whether a call is in progress that has not taken long yet.
    pub(crate) fn may_end_soon(&self) -> bool {
        let has_taken = || tsc::now().saturating_sub(self.began.load(Ordering::Relaxed));
        self.ended.load(Ordering::Relaxed) == NOW && has_taken() < tsc::ticks(SHORT)
    }

    /// Whether the next call will probably come soon.
    pub(crate) fn go_on(&self) -> bool {
        self.follows.load(Ordering::Relaxed) && self.is_soon()
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        // Neither 0 nor `NOW`, whatever the clock reads.
        self.0.ended.store(tsc::now().clamp(1, NOW - 1), Ordering::Relaxed);
    }
}

/// [Spins](self) for the end of a call, then calls `wait`, which returns at once if the call is
/// over. `calls` is shared with the workers that run the call.
pub(crate) fn spin_or(calls: Option<&Calls>, is_over: impl Fn() -> bool, wait: impl FnOnce()) {
    let began = tsc::now();
    let _under_way = calls.map(|calls| calls.begin(began));
    let waited = || tsc::now().saturating_sub(began);
    let longest = tsc::ticks(calls.map_or(LONGEST, |calls| calls.longest));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_expect_calls_after_two_in_a_row() {
        let calls = Calls::new(true);
        assert!(!calls.go_on(), "there was none");
        for number in 0..2 {
            let mut told = false;
            let wait = || told = calls.go_on();
            spin_or(Some(&calls), || true, wait);
            // The first has nothing to follow. The second may come late on a busy machine.
            assert!(number > 0 || !told);
            assert!(calls.ended.load(Ordering::Relaxed) != NOW);
        }
        calls.follows.store(true, Ordering::Relaxed);
        calls.ended.store(tsc::now().wrapping_sub(2 * tsc::ticks(SOON)).max(1), Ordering::Relaxed);
        assert!(!calls.go_on(), "the latest was long ago");
        let under_way = calls.begin(tsc::now());
        assert!(!calls.go_on(), "it follows none");
        let _second = calls.begin(tsc::now());
        assert!(calls.go_on(), "two are under way");
        drop(under_way);
    }

    #[test]
    fn workers_wait_for_the_end_of_a_short_call() {
        let calls = Calls::new(true);
        assert!(!calls.may_end_soon(), "there was none");
        let long_ago = tsc::now().saturating_sub(2 * tsc::ticks(SHORT));
        let long = calls.begin(long_ago);
        assert!(!calls.may_end_soon(), "it takes long");
        drop(long);
        // It begins later than now, so that it is short on a busy machine.
        let short = calls.begin(u64::MAX);
        assert!(calls.may_end_soon());
        drop(short);
        assert!(!calls.may_end_soon(), "it is over");
    }

    #[test]
    fn an_unwinding_ends_a_call() {
        let calls = Calls::new(true);
        let wait = || panic!("the blocker unwinds");
        let call = || spin_or(Some(&calls), || true, wait);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
        assert!(calls.ended.load(Ordering::Relaxed) != NOW);
    }
}
