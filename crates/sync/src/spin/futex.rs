//! Test and test-and-set that sleeps in the kernel. Protocol: `README.md`, section *Futex kinds*.
//!
//! | word | meaning |
//! |---|---|
//! | 0 | free |
//! | 1 | held, nobody sleeps |
//! | 2 | held, somebody may sleep |

use super::config::{SpinConfig, Standard};
use super::raw_mutex;
use super::wait::Waiter;
use crate::sys::FutexWord;
use sateen_base::prim::Ordering;
use std::marker::PhantomData;

const FREE: u32 = 0;
const HELD: u32 = 1;
const SLEPT_ON: u32 = 2;

/// Of the exchange that unlocks; weakened to see the model fail.
const GIVE: Ordering =
    if cfg!(sateen_canary = "futex_give_relaxed") { Ordering::Relaxed } else { Ordering::Release };

struct Word(FutexWord);

impl Word {
    crate::sys::const_except_loom! {
        const fn new() -> Self {
            Self(FutexWord::new(FREE))
        }
    }

    #[inline(always)]
    fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.0.word().compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn get(&self) -> u32 {
        self.0.word().load(Ordering::Relaxed)
    }

    /// Spins for at most `limit` tests, or until somebody sleeps: those who sleep have waited longer.
    fn spin<C: SpinConfig>(&self, waiter: &mut Waiter<C>, limit: u32) -> bool {
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
    fn sleep<C: SpinConfig>(&self, waiter: &mut Waiter<C>, limit: u32) {
        // Whoever has slept does not know whether others do.
        // Ordering: Acquire pairs with the Release in `give`.
        while self.0.word().swap(SLEPT_ON, Ordering::Acquire) != FREE {
            self.0.wait(SLEPT_ON, None);
            waiter.tests = 0;
            while self.get() == HELD && waiter.test(limit, || self.get() == HELD) {}
        }
    }

    #[inline(always)]
    fn give(&self) {
        // Ordering: Release publishes the critical section to the next `take`, `swap` in `sleep`.
        if self.0.word().swap(FREE, GIVE) == SLEPT_ON {
            self.wake_slow();
        }
    }

    #[cold]
    fn wake_slow(&self) {
        #[cfg(not(sateen_canary = "futex_wake_missing"))]
        self.0.wake();
    }
}

/// Test and test-and-set that sleeps when spinning has not helped.
///
/// Uncontended, a locked instruction to take it and another to give it back. A waiter spins for at most
/// [`SpinConfig::TESTS`] tests, not at all while others sleep, then sleeps in the kernel.
///
/// Take it where threads outnumber cores or sections may be long, and it is known how long spinning is worth it;
/// otherwise [`TtasAdaptiveFutex`](super::TtasAdaptiveFutex).
///
/// ```
/// let lock = lock_api::Mutex::<sateen_sync::spin::TtasFutex, _>::new(1);
/// *lock.lock() += 1;
/// assert_eq!(*lock.lock(), 2);
/// ```
pub struct TtasFutex<C = Standard> {
    word: Word,
    config: PhantomData<C>,
}

impl<C: SpinConfig> TtasFutex<C> {
    crate::sys::const_except_loom! {
        /// A free lock.
        pub const fn new() -> Self {
            Self { word: Word::new(), config: PhantomData }
        }
    }

    #[inline(always)]
    fn take(&self) -> bool {
        self.word.take()
    }

    #[cold]
    fn take_slow(&self) {
        let mut waiter = Waiter::<C>::new();
        let limit = waiter.limit();
        if !self.word.spin(&mut waiter, limit) {
            self.word.sleep(&mut waiter, limit);
        }
    }

    #[inline(always)]
    fn try_take(&self) -> bool {
        self.word.take()
    }

    #[inline(always)]
    fn give(&self) {
        self.word.give();
    }

    fn is_held(&self) -> bool {
        self.word.get() != FREE
    }
}

// SAFETY: exchanges of `FREE` for something else let one through.
raw_mutex!(TtasFutex<C>);
