//! How long a worker was busy, idle and asleep.
//!
//! There is one word for each of the three, written by the worker's own thread:
//!
//! | bits | mean | changed by |
//! |---|---|---|
//! | lowest | the worker is in that state now | `switch` |
//! | 63 others | ticks spent there; while it is there, less the time of entry | `switch` |
//!
//! So one load reads a whole state, and a reader adds the current time if the lowest bit is set. A
//! reader never counts a period twice or in part. The words order nothing.

use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicU64, Ordering};
use sateen_base::tsc;
use std::cell::Cell;

/// What a worker's thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It runs work, or searches its own queues.
    Work,
    /// It has nothing to do and searches elsewhere.
    Search,
    /// It sleeps in the kernel.
    Sleep,
    /// It has not started, or has left.
    Nothing,
}

/// The part that other threads may read.
#[derive(Debug, Default)]
pub(crate) struct Times([Span; 3]);

impl Times {
    /// Time spent in `what` so far.
    pub(crate) fn of(&self, what: Doing) -> Duration {
        let ticks = self.0.get(what as usize).map_or(0, Span::ticks);
        Duration::from_nanos(tsc::nanos(ticks))
    }

    /// What the worker is doing now, for another thread.
    #[cfg(any(feature = "trace", all(feature = "inspect", unix)))]
    pub(crate) fn doing(&self) -> Doing {
        let all = [Doing::Work, Doing::Search, Doing::Sleep];
        let now = all.into_iter().find(|&what| self.0[what as usize].is_present());
        now.unwrap_or(Doing::Nothing)
    }

    /// Switches to `then`. Called only on the worker's own thread, which keeps `now`. Returns what
    /// it did before.
    #[inline]
    pub(crate) fn switch(&self, now: &Cell<Doing>, then: Doing) -> Doing {
        let before = now.replace(then);
        if before != then {
            let ticks = tsc::now();
            if let Some(span) = self.0.get(before as usize) {
                span.leave(ticks);
            }
            if let Some(span) = self.0.get(then as usize) {
                span.enter(ticks);
            }
        }
        before
    }
}

/// Time in one state; see the module's documentation.
#[derive(Debug, Default)]
struct Span(AtomicU64);

impl Span {
    const INSIDE: u64 = 1;
    /// Differences above this are negative: the clocks of two cores differ a little.
    const NEGATIVE: u64 = 1 << 62;

    fn enter(&self, now: u64) {
        // Ordering: Relaxed, here and below: there is one writer, and the word publishes nothing
        // else.
        let word = self.0.load(Ordering::Relaxed);
        self.0.store(word.wrapping_sub(now << 1) | Self::INSIDE, Ordering::Relaxed);
    }

    fn leave(&self, now: u64) {
        let word = self.0.load(Ordering::Relaxed) & !Self::INSIDE;
        self.0.store(word.wrapping_add(now << 1), Ordering::Relaxed);
    }

    #[cfg(any(feature = "trace", all(feature = "inspect", unix)))]
    fn is_present(&self) -> bool {
        self.0.load(Ordering::Relaxed) & Self::INSIDE != 0
    }

    fn ticks(&self) -> u64 {
        let word = self.0.load(Ordering::Relaxed);
        let present = if word & Self::INSIDE == 0 { 0 } else { tsc::now() << 1 };
        let ticks = (word & !Self::INSIDE).wrapping_add(present) >> 1;
        if ticks < Self::NEGATIVE { ticks } else { 0 }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn spans_add_up_and_count_the_present_one() {
        let span = Span::default();
        let first = 1 << 62;
        span.enter(first);
        span.leave(first + 10);
        assert_eq!(span.ticks(), 10);
        // A moment to come: its time is below zero, and counts as none.
        span.enter(tsc::now() + (1 << 40));
        assert_eq!(span.ticks(), 0);
        span.leave(tsc::now() + (1 << 40) + 1000);
        assert!(span.ticks() >= 10);
    }

    #[test]
    fn a_switch_ends_one_and_begins_another() {
        let (times, now) = (Times::default(), Cell::new(Doing::Nothing));
        assert_eq!(times.switch(&now, Doing::Work), Doing::Nothing);
        assert_eq!(times.switch(&now, Doing::Sleep), Doing::Work);
        let work = times.of(Doing::Work);
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_millis(2) {}
        assert_eq!(times.of(Doing::Work), work);
        assert!(times.of(Doing::Sleep) >= Duration::from_millis(1));
        assert_eq!(times.of(Doing::Search), Duration::ZERO);
    }
}
