//! The solutions: the number and what protects it.

use super::Tally;
use crate::adapter::Guarded;
use sateen::sync::counter::{LocalCounter, StripedCounter};
use sateen_base::CachePadded;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Each thread counts for itself and adds it up at its end.
#[derive(Default)]
pub(super) struct LocalThenAtomic(CachePadded<AtomicU64>);

impl Tally for LocalThenAtomic {
    fn count(&self, times: u64) {
        let mine = LocalCounter::new(&self.0);
        for _ in 0..times {
            mine.increment();
            // A store each: otherwise the compiler makes one addition of the loop.
            black_box(mine.pending());
        }
    }

    fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Each thread has a stripe.
#[derive(Default)]
pub(super) struct Striped(StripedCounter);

impl Tally for Striped {
    fn count(&self, times: u64) {
        for _ in 0..times {
            self.0.increment();
        }
    }

    fn total(&self) -> u64 {
        self.0.sum()
    }
}

/// One locked instruction.
#[derive(Default)]
pub(super) struct Atomic(CachePadded<AtomicU64>);

impl Tally for Atomic {
    fn count(&self, times: u64) {
        for _ in 0..times {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A lock around the number, taken for each increment.
pub(super) struct Locked<G>(CachePadded<G>);

impl<G: Guarded<u64>> Default for Locked<G> {
    fn default() -> Self {
        Self(CachePadded::new(G::new(0)))
    }
}

impl<G: Guarded<u64>> Tally for Locked<G> {
    fn count(&self, times: u64) {
        for _ in 0..times {
            self.0.with(|n| *n += 1);
        }
    }

    fn total(&self) -> u64 {
        self.0.read(|n| *n)
    }
}

/// A flag that is set by exchanges until it was clear, and what a loser does between two.
pub(super) struct Flag<const YIELDS: bool> {
    held: AtomicBool,
    value: AtomicU64,
}

/// Exchanges without a pause, as first written by everybody.
pub(super) type NaiveSpin = Flag<false>;
/// Gives its time slice away after each exchange that fails.
pub(super) type YieldingSpin = Flag<true>;

impl<const YIELDS: bool> Guarded<u64> for Flag<YIELDS> {
    const NAME: &'static str = if YIELDS { "yielding" } else { "naive" };

    fn new(value: u64) -> Self {
        Self { held: AtomicBool::new(false), value: AtomicU64::new(value) }
    }

    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        // Ordering: Acquire pairs with the Release below, by whoever held it before.
        while self.held.swap(true, Ordering::Acquire) {
            if YIELDS {
                thread::yield_now();
            }
        }
        // An ordinary load and store: this crate has no unsafe code, hence the atomic.
        let mut value = self.value.load(Ordering::Relaxed);
        let result = f(&mut value);
        self.value.store(value, Ordering::Relaxed);
        // Ordering: Release publishes the value to the next holder.
        self.held.store(false, Ordering::Release);
        result
    }
}
