//! A test-and-test-and-set lock. Protocol: `README.md`, section *Words*.
//!
//! | word | meaning |
//! |---|---|
//! | 0 | free |
//! | 1 | held |

use super::config::{SpinConfig, Standard};
use super::raw_mutex;
use super::wait::{Waiter, yield_now};
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU8;
use std::marker::PhantomData;

/// The word of the kinds that do not sleep.
pub(super) struct Word(AtomicU8);

impl Word {
    crate::sys::const_except_loom! {
        pub(super) const fn new() -> Self {
            Self(AtomicU8::new(0))
        }
    }

    /// Takes the lock if it is free.
    #[inline(always)]
    pub(super) fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether it looked held: a test that keeps waiters from writing to the line.
    #[inline(always)]
    pub(super) fn is_held(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Releases the lock.
    #[inline(always)]
    pub(super) fn give(&self) {
        // Ordering: Release publishes the critical section to the next `take`.
        self.0.store(0, Ordering::Release);
    }
}

/// A test-and-test-and-set lock: the plain spinlock.
///
/// Uncontended, one locked instruction to acquire and a plain store to release. A waiter tests with
/// pauses in between, exchanges when the lock looks free, and backs off if it loses that exchange
/// (a *collision*). After [`SpinConfig::TESTS`] tests it yields its time slice at each further one.
///
/// Use it for sections of a few instructions, if each thread has a core. If the cores are
/// oversubscribed it collapses: while the holder is preempted, all others waste CPU time. Yielding
/// keeps that from hanging, but the time is lost. It is unfair: the thread that unlocked last has
/// the lock in its cache and gets it again. (Of eight threads on two cores one got an eighth of
/// what another got.)
///
/// ```
/// let lock = lock_api::Mutex::<sateen::sync::spin::Ttas, _>::new(1);
/// *lock.lock() += 1;
/// assert_eq!(*lock.lock(), 2);
/// ```
pub struct Ttas<C = Standard> {
    word: Word,
    config: PhantomData<C>,
}

impl<C: SpinConfig> Ttas<C> {
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
        loop {
            while self.word.is_held() {
                if !waiter.test(limit, || self.word.is_held()) {
                    yield_now();
                }
            }
            if self.word.take() {
                return;
            }
            waiter.collided();
        }
    }

    #[inline(always)]
    fn try_take(&self) -> bool {
        !self.word.is_held() && self.word.take()
    }

    #[inline(always)]
    fn give(&self) {
        self.word.give();
    }

    fn is_held(&self) -> bool {
        self.word.is_held()
    }
}

// SAFETY: the exchange in `take` lets one through until `give`.
raw_mutex!(Ttas<C>);
