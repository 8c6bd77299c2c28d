//! Test and test-and-set that learns. Protocol: `README.md`, section *Words*.

use super::config::{SpinConfig, Standard};
use super::experience::Experience;
use super::raw_mutex;
use super::ttas::Word;
use super::wait::{Waiter, nap, yield_now};
use std::marker::PhantomData;

/// Test and test-and-set that learns from earlier waits how long to spin.
///
/// Like [`super::Ttas`], but a wait yields once, then spins up to four times as long as spinning
/// has taken lately, at most [`SpinConfig::TESTS`] tests: a lock whose waits are short is spun for,
/// one whose waits are long is not. After that a waiter yields its time slice, and after some
/// yields it naps for 50 µs at a time, so that a crowd leaves the cores to the holder.
///
/// Take it for short sections where the platform's way of sleeping costs too much, or is missing.
/// No unlock wakes a thread: a napping waiter may be 50 µs late.
///
/// ```
/// let lock = lock_api::Mutex::<sateen::sync::spin::TtasAdaptive, _>::new(1);
/// *lock.lock() += 1;
/// assert_eq!(*lock.lock(), 2);
/// ```
pub struct TtasAdaptive<C = Standard> {
    word: Word,
    experience: Experience,
    config: PhantomData<C>,
}

impl<C: SpinConfig> TtasAdaptive<C> {
    crate::sys::const_except_loom! {
        /// A free lock.
        pub const fn new() -> Self {
            Self { word: Word::new(), experience: Experience::new(), config: PhantomData }
        }
    }

    #[inline(always)]
    fn take(&self) -> bool {
        self.word.take()
    }

    #[cold]
    fn take_slow(&self) {
        /// Yields before the first nap.
        const YIELDS: u32 = 16;
        let mut waiter = Waiter::<C>::new();
        let wait = self.experience.begin(&waiter);
        let mut yields = 0;
        // Before spinning: the holder has the line to itself meanwhile, so that threads that hardly
        // do anything else take turns of many sections. (Eight threads that increment,
        // `counter/adaptive-mutex` of the lab: 5.2 to 5.4 ns, 14 to 16 without.)
        yield_now();
        loop {
            while self.word.is_held() {
                if waiter.test(wait.limit, || self.word.is_held()) {
                    continue;
                }
                if yields < YIELDS {
                    yield_now();
                } else {
                    nap();
                }
                yields += 1;
            }
            if self.word.take() {
                break;
            }
            waiter.collided();
        }
        if yields == 0 {
            self.experience.spun(wait, &waiter);
        } else {
            self.experience.in_vain(wait, &waiter);
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

// SAFETY: as for `Ttas`.
raw_mutex!(TtasAdaptive<C>);
