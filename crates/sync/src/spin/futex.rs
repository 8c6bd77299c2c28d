//! Test and test-and-set that sleeps in the kernel. Protocol: `README.md`, section *Futex kinds*.
//!
//! | word | meaning |
//! |---|---|
//! | 0 | free |
//! | 1 | held, no thread sleeps |
//! | 2 | held, a thread may sleep |

use super::config::{SpinConfig, Standard};
use super::raw_mutex;
use super::wait::Waiter;
use crate::sys::FutexWord;
use sateen_base::prim::Ordering;
use std::marker::PhantomData;

const FREE: u32 = 0;
const HELD: u32 = 1;
const SLEPT_ON: u32 = 2;

/// Test and test-and-set that sleeps when spinning has not helped.
///
/// Uncontended, a locked instruction to take it and another to give it back. A waiter spins for at
/// most [`SpinConfig::TESTS`] tests, not at all while others sleep, then sleeps in the kernel.
///
/// Take it where threads outnumber cores or sections may be long, and you know how long spinning
/// pays; otherwise [`TtasAdaptiveFutex`](super::TtasAdaptiveFutex).
///
/// ```
/// let lock = lock_api::Mutex::<sateen::sync::spin::TtasFutex, _>::new(1);
/// *lock.lock() += 1;
/// assert_eq!(*lock.lock(), 2);
/// ```
pub struct TtasFutex<C = Standard> {
    word: FutexWord,
    config: PhantomData<C>,
}

impl<C: SpinConfig> TtasFutex<C> {
    crate::sys::const_except_loom! {
        /// A free lock.
        pub const fn new() -> Self {
            Self { word: FutexWord::new(FREE), config: PhantomData }
        }
    }

    #[inline(always)]
    fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.word().compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn take_slow(&self) {
        let mut waiter = Waiter::<C>::new();
        let limit = waiter.limit();
        if !self.spin(&mut waiter, limit) {
            self.sleep(&mut waiter, limit);
        }
    }

    /// Spins for at most `limit` tests, or until a thread sleeps: sleepers have waited longer.
    fn spin(&self, waiter: &mut Waiter<C>, limit: u32) -> bool {
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
    fn sleep(&self, waiter: &mut Waiter<C>, limit: u32) {
        // A thread that has slept does not know whether others sleep.
        // Ordering: Acquire pairs with the Release in `give`.
        while self.word.word().swap(SLEPT_ON, Ordering::Acquire) != FREE {
            self.word.wait(SLEPT_ON, None);
            waiter.again();
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
        if self.word.word().swap(FREE, Ordering::Release) == SLEPT_ON {
            self.wake_slow();
        }
    }

    #[cold]
    fn wake_slow(&self) {
        self.word.wake();
    }

    fn get(&self) -> u32 {
        self.word.word().load(Ordering::Relaxed)
    }

    fn is_held(&self) -> bool {
        self.get() != FREE
    }
}

// SAFETY: exchanges of `FREE` for something else let one through.
raw_mutex!(TtasFutex<C>);
