//! Test and test-and-set that sleeps in the kernel.
//!
//! | word | meaning |
//! |---|---|
//! | 0 | free |
//! | 1 | held, no thread sleeps |
//! | 2 | held, a thread may sleep |

use super::raw_mutex;
use super::wait::Waiter;
use sateen_base::os;
use std::sync::atomic::{AtomicU32, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
const SLEPT_ON: u32 = 2;

/// A test-and-test-and-set lock that sleeps when spinning has not helped.
///
/// Uncontended, a locked instruction to take it and another to give it back. A waiter spins for at
/// most a hundred tests, not at all while others sleep, then sleeps in the kernel.
///
/// Take it where threads outnumber cores or sections may be long, and you know how long spinning
/// pays; otherwise `TtasAdaptiveFutex`.
pub(crate) struct TtasFutex {
    word: AtomicU32,
}

impl TtasFutex {
    /// A free lock.
    pub(crate) const fn new() -> Self {
        Self { word: AtomicU32::new(FREE) }
    }

    #[inline(always)]
    fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn take_slow(&self) {
        let mut waiter = Waiter::new();
        let limit = waiter.limit;
        if !self.spin(&mut waiter, limit) {
            self.sleep(&mut waiter, limit);
        }
    }

    /// Spins for at most `limit` tests, or until a thread sleeps: sleepers have waited longer.
    fn spin(&self, waiter: &mut Waiter, limit: u32) -> bool {
        loop {
            match self.get() {
                FREE if self.take() => return true,
                FREE => waiter.collided(),
                HELD if waiter.test(limit, || self.get() == HELD) => {}
                _ => return false,
            }
        }
    }

    /// Sleeps until it is free, and takes it.
    fn sleep(&self, waiter: &mut Waiter, limit: u32) {
        // A thread that has slept does not know whether others sleep.
        // Ordering: Acquire pairs with the Release in `give`.
        while self.word.swap(SLEPT_ON, Ordering::Acquire) != FREE {
            os::futex_wait(&self.word, SLEPT_ON, None);
            waiter.tests = 0;
            while self.get() == HELD && waiter.test(limit, || self.get() == HELD) {}
        }
    }

    #[inline(always)]
    fn try_take(&self) -> bool {
        self.take()
    }

    #[inline(always)]
    fn give(&self) {
        // Ordering: Release publishes the critical section to the next `take`, `swap` in `sleep`.
        if self.word.swap(FREE, Ordering::Release) == SLEPT_ON {
            self.wake_slow();
        }
    }

    #[cold]
    fn wake_slow(&self) {
        os::futex_wake_one(&self.word);
    }

    fn get(&self) -> u32 {
        self.word.load(Ordering::Relaxed)
    }
}

// SAFETY: exchanges of `FREE` for something else let one through.
raw_mutex!(TtasFutex);
