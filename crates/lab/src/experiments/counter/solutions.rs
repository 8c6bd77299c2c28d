//! The solutions: the number and what protects it.

use super::Tally;
use crate::adapter::{LockKind, SharedLockKind};
use sateen::sync::counter::{LocalCounter, StripedCounter};
use sateen_base::CachePadded;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Each thread counts for itself and adds its count to the number at its end.
#[derive(Default)]
pub(super) struct LocalThenAtomic(CachePadded<AtomicU64>);

impl Tally for LocalThenAtomic {
    fn count(&self, times: u64) {
        let mine = LocalCounter::new(&self.0);
        for _ in 0..times {
            mine.increment();
            // Without a store for each, the compiler makes one addition of the loop.
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
pub(super) struct Locked<L: LockKind>(CachePadded<L::Of<u64>>);

impl<L: LockKind> Default for Locked<L> {
    fn default() -> Self {
        Self(CachePadded::new(L::new(0)))
    }
}

impl<L: SharedLockKind> Tally for Locked<L> {
    fn count(&self, times: u64) {
        for _ in 0..times {
            L::with(&self.0, |n| *n += 1);
        }
    }

    fn total(&self) -> u64 {
        L::with(&self.0, |n| *n)
    }
}

/// A number behind a flag. A thread exchanges the flag until it was clear. `YIELDS` says whether
/// the thread yields after an exchange that failed.
#[derive(Default)]
pub(super) struct Flag<const YIELDS: bool>(CachePadded<(AtomicBool, AtomicU64)>);

/// Exchanges without a pause, like most first attempts.
pub(super) type NaiveSpin = Flag<false>;
/// Yields its time slice after each failed exchange.
pub(super) type YieldingSpin = Flag<true>;

impl<const YIELDS: bool> Tally for Flag<YIELDS> {
    fn count(&self, times: u64) {
        let (held, number) = &*self.0;
        for _ in 0..times {
            // Ordering: Acquire pairs with the Release below of the previous holder.
            while held.swap(true, Ordering::Acquire) {
                if YIELDS {
                    thread::yield_now();
                }
            }
            // A load and a store, as for a plain number. It is an atomic because there is no unsafe
            // code here.
            number.store(number.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            // Ordering: Release publishes the number to the next holder.
            held.store(false, Ordering::Release);
        }
    }

    fn total(&self) -> u64 {
        self.0.1.load(Ordering::Relaxed)
    }
}
