//! An adaptive lock that sleeps. Protocol and proof: `README.md`, section *Adaptive futex*.
//!
//! | bit of `word` | set | meaning |
//! |---|---|---|
//! | `LOCKED` 1 | by the taker; kept by an unlock that hands over | held |
//! | `WOKEN` 2 | by an unlock that chooses a sleeper | a woken waiter is on its way |
//! | `DUE` 4 | by the woken waiter, while `LOCKED` | the next unlock hands the lock over |
//! | 8 and up | +1 by a sleeper, -1 by the unlock that chooses it | how many sleep |
//!
//! | futex | 0 | 1 |
//! |---|---|---|
//! | `chosen` | sleepers wait | the one that takes the 1 away is the woken waiter |
//! | `handed` | the woken waiter waits | the lock is the woken waiter's |
//!
//! The woken waiter owns `WOKEN` and `DUE`, and clears them when it takes the lock. An unlock that
//! hands over clears them for it.

use super::config::{SpinConfig, Standard};
use super::experience::Experience;
use super::raw_mutex;
use super::wait::Waiter;
use crate::sys::FutexWord;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;
use std::marker::PhantomData;

const LOCKED: u32 = 1;
const WOKEN: u32 = 2;
const DUE: u32 = 4;
const SLEEPER: u32 = 8;

/// How often a woken waiter that finds the lock held goes back to sleep before it requests a
/// hand-over.
const BARGE_LIMIT: u32 = if cfg!(loom) { 1 } else { 16 };

/// A test-and-test-and-set lock that learns from earlier waits how long to spin, and otherwise
/// sleeps.
///
/// Use it if you know nothing of the sections, threads and cores.
///
/// A thread that finds the lock held spins up to four times as long as spinning has taken lately,
/// at most [`SpinConfig::TESTS`] tests. Then it yields its time slice up to sixteen times, and then
/// sleeps in the kernel. An unlock wakes one sleeper; no other is woken before that one has got the
/// lock or gone back to sleep. Running threads may take the lock first. A sleeper that has lost it
/// sixteen times has it handed over.
///
/// # Cost
///
/// 16 bytes. Uncontended, one locked instruction to acquire and another to release.
///
/// # Examples
///
/// ```
/// let lock = lock_api::Mutex::<sateen::sync::spin::TtasAdaptiveFutex, _>::new(1);
/// *lock.lock() += 1;
/// assert_eq!(*lock.lock(), 2);
/// ```
pub struct TtasAdaptiveFutex<C = Standard> {
    word: AtomicU32,
    chosen: FutexWord,
    handed: FutexWord,
    experience: Experience,
    config: PhantomData<C>,
}

impl<C: SpinConfig> TtasAdaptiveFutex<C> {
    crate::sys::const_except_loom! {
        /// A free lock.
        pub const fn new() -> Self {
            Self {
                word: AtomicU32::new(0),
                chosen: FutexWord::new(0),
                handed: FutexWord::new(0),
                experience: Experience::new(),
                config: PhantomData,
            }
        }
    }

    /// Takes the lock if it is free, even past sleepers. It does not load the word first: a shared
    /// lock is often free but not in this core's cache, and the load would fetch its line twice.
    #[inline(always)]
    fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.fetch_or(LOCKED, Ordering::Acquire) & LOCKED == 0
    }

    #[cold]
    fn take_slow(&self) {
        let mut waiter = Waiter::<C>::new();
        let wait = self.experience.begin(&waiter);
        if self.spin(&mut waiter, wait.limit) {
            self.experience.spun(wait, &waiter);
            return;
        }
        self.experience.in_vain(wait, &waiter);
        if self.sleep() {
            self.take_woken(&mut waiter);
        }
    }

    /// Spins for at most `limit` tests.
    fn spin(&self, waiter: &mut Waiter<C>, limit: u32) -> bool {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 {
                if self.take() {
                    return true;
                }
                waiter.collided();
            } else if word & DUE != 0 || !waiter.wait(limit) {
                return false;
            }
        }
    }

    /// Sleeps until it is the woken waiter (true), or takes the lock if it has become free (false).
    fn sleep(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let new = if word & LOCKED == 0 { word | LOCKED } else { word + SLEEPER };
            // Ordering: Acquire pairs with the Release in `give`, if this takes the lock.
            match self.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) if word & LOCKED == 0 => return false,
                Ok(_) => break,
                Err(seen) => word = seen,
            }
        }
        self.wait_to_be_chosen();
        true
    }

    fn wait_to_be_chosen(&self) {
        while !take_away(&self.chosen) {
            self.chosen.wait(0, None);
        }
    }

    /// The woken waiter's path to the lock. It spins, and otherwise goes back to sleep, so that the
    /// next unlock wakes a sleeper. After `BARGE_LIMIT` such rounds it requests a hand-over.
    #[cold]
    fn take_woken(&self, waiter: &mut Waiter<C>) {
        let mut came = 0;
        waiter.again();
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 {
                if self.claim(word) {
                    return;
                }
            } else if !waiter.test(waiter.limit(), || self.is_held()) {
                if came == BARGE_LIMIT {
                    break;
                }
                if self.resign(word) {
                    self.wait_to_be_chosen();
                    waiter.again();
                    came += 1;
                }
            }
        }
        waiter.again();
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if take_away(&self.handed) || word & LOCKED == 0 && self.claim(word) {
                return;
            }
            // Without `WOKEN`, an unlock is just handing the lock over.
            if word & (LOCKED | WOKEN | DUE) == LOCKED | WOKEN {
                // Relaxed: the word's modification order decides whether the holder sees it.
                let _ = self.word.compare_exchange(
                    word,
                    word | DUE,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
            } else if word & LOCKED != 0 && !waiter.test(waiter.limit(), || self.is_held()) {
                self.handed.wait(0, None);
            }
        }
    }

    /// Turns the woken waiter back into a sleeper if the lock is still held, so that the holder's
    /// unlock looks for one.
    fn resign(&self, word: u32) -> bool {
        let new = word - WOKEN + SLEEPER;
        // Ordering: Release pairs with the Acquire in `give_slow`: the next 1 in `chosen` comes
        // after this waiter's was consumed.
        self.word.compare_exchange(word, new, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// The woken waiter takes the lock, which looked free.
    fn claim(&self, word: u32) -> bool {
        let new = (word | LOCKED) & !(WOKEN | DUE);
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn try_take(&self) -> bool {
        !self.is_held() && self.take()
    }

    #[inline(always)]
    fn give(&self) {
        // Ordering: Release publishes the critical section to the thread that takes the lock next.
        let word = self.word.fetch_sub(LOCKED, Ordering::Release);
        if word != LOCKED {
            self.give_slow(word);
        }
    }

    /// Called after the lock was released while a waiter sleeps or is on its way.
    #[cold]
    fn give_slow(&self, mut word: u32) {
        word -= LOCKED;
        while word & LOCKED == 0 {
            let due = word & DUE != 0;
            let (new, futex) = if due {
                ((word | LOCKED) & !(WOKEN | DUE), &self.handed)
            } else if word & WOKEN == 0 && word >= SLEEPER {
                (word - SLEEPER + WOKEN, &self.chosen)
            } else {
                return;
            };
            // Ordering: Acquire, for the woken waiter: if another thread has had the lock since,
            // its writes are handed over too.
            match self.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    // Ordering: Release publishes the critical section to the woken waiter, in
                    // `take_away`.
                    futex.word().store(1, Ordering::Release);
                    futex.wake();
                    return;
                }
                Err(seen) => word = seen,
            }
        }
        // The unlock of the current holder sees the sleepers.
    }

    fn is_held(&self) -> bool {
        self.word.load(Ordering::Relaxed) & LOCKED != 0
    }
}

/// Consumes a 1. Returns whether there was one.
fn take_away(futex: &FutexWord) -> bool {
    // Ordering: Acquire pairs with the Release in `give_slow`.
    futex.word().load(Ordering::Relaxed) == 1
        && futex.word().compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

// SAFETY: an exchange that sets `LOCKED` on a word without it lets one thread through. A hand-over
// lets the woken waiter through instead of the thread that unlocks, and there is one woken waiter.
raw_mutex!(TtasAdaptiveFutex<C>);
