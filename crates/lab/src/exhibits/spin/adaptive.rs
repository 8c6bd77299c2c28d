//! Test and test-and-set that learns.

use super::raw_mutex;
use super::wait::{Waiter, yield_now};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Fewest tests in a wait: they find out whether waits have become shorter.
const FEW: u32 = 8;
/// Yields before the first nap.
const YIELDS: u32 = 16;
/// No unlock ends a nap.
const NAP: Duration = Duration::from_micros(50);

/// Test and test-and-set that learns from earlier waits how long to spin.
///
/// Like `Ttas`, but a wait yields once, then spins up to four times as long as spinning has taken
/// lately, at most a hundred tests: a lock whose waits are short is spun for, one whose waits are
/// long is not. After that a waiter yields its time slice, and after some yields it naps, so that a
/// crowd leaves the cores to the holder.
pub(crate) struct TtasAdaptive {
    /// 0: free; 1: held.
    word: AtomicU8,
    /// How many tests spinning takes, in eighths, a moving average of the waits that it ended. A
    /// hint, changed by loads and stores: every value is right.
    usual: AtomicU32,
}

impl TtasAdaptive {
    /// A free lock.
    pub(crate) const fn new() -> Self {
        Self { word: AtomicU8::new(0), usual: AtomicU32::new(0) }
    }

    #[inline(always)]
    fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn take_slow(&self) {
        let mut waiter = Waiter::new();
        let usual = self.usual.load(Ordering::Relaxed);
        let limit = (usual / 2 + FEW).min(waiter.limit);
        let mut yields = 0;
        // Before spinning: the holder has the line to itself meanwhile, so that threads that hardly
        // do anything else take turns of many sections. (Eight threads that increment,
        // `counter/adaptive-mutex` of the lab: 5.2 to 5.4 ns, 14 to 16 without.)
        yield_now();
        loop {
            while self.is_held() {
                if waiter.test(limit, || self.is_held()) {
                    continue;
                }
                if yields < YIELDS {
                    yield_now();
                } else {
                    thread::sleep(NAP);
                }
                yields += 1;
            }
            if self.take() {
                break;
            }
            waiter.collided();
        }
        self.learn(usual, limit, &waiter, yields == 0);
    }

    /// Learns from a wait, which spinning has `ended` or not. The caller holds the lock, and the
    /// value lies beside its word: so one that is not far off is left alone.
    fn learn(&self, usual: u32, limit: u32, waiter: &Waiter, ended: bool) {
        let seen = 8 * waiter.tests;
        let new = match ended {
            true if seen > 2 * usual.max(2 * FEW) || 4 * seen < usual.saturating_sub(2 * FEW) => {
                usual - usual / 8 + waiter.tests
            }
            true => return,
            // The next wait may spin longer, unless this one reached the limit.
            false if limit < waiter.limit => usual * 2 + 8 * FEW,
            false => 0,
        };
        self.usual.store(new.min(0xFFFF), Ordering::Relaxed);
    }

    #[inline(always)]
    fn try_take(&self) -> bool {
        !self.is_held() && self.take()
    }

    #[inline(always)]
    fn give(&self) {
        // Ordering: Release publishes the critical section to the next `take`.
        self.word.store(0, Ordering::Release);
    }

    fn is_held(&self) -> bool {
        self.word.load(Ordering::Relaxed) != 0
    }
}

// SAFETY: the exchange in `take` lets one through until `give`.
raw_mutex!(TtasAdaptive);
