//! The lock that learns, sleeps, and keeps the crowd away. Protocol and proof: `README.md`, section *Adaptive futex*.
//!
//! | bit of `word` | set | meaning |
//! |---|---|---|
//! | `LOCKED` 1 | by the taker; kept by an unlock that hands over | held |
//! | `HEIR` 2 | by an unlock that chooses a sleeper | one that slept is on its way |
//! | `DUE` 4 | by the heir, while `LOCKED` | the heir has waited long enough: the next unlock hands over |
//! | 8 and up | counted up by who goes to sleep, down by the unlock that chooses it | how many sleep |
//!
//! | futex | 0 | 1 |
//! |---|---|---|
//! | `chosen` | sleepers wait | one of them, whoever takes the 1 away, is the heir |
//! | `handed` | the heir waits | the lock is the heir's |
//!
//! `HEIR` and `DUE` belong to the heir: it clears them when it takes the lock, an unlock when it hands over.

use super::config::{SpinConfig, Standard};
use super::experience::Experience;
use super::raw_mutex;
use super::wait::{Waiter, yield_now};
use crate::sys::FutexWord;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::time::Duration;
use std::marker::PhantomData;

const LOCKED: u32 = 1;
const HEIR: u32 = 2;
const DUE: u32 = 4;
const SLEEPER: u32 = 8;

/// For how long the heir leaves a lock alone that it has not got: what a change of turns costs (some microseconds) should be
/// a small part of it.
const NAP: Duration = Duration::from_micros(100);

/// How often a thread whose spinning was in vain lets others run before it sleeps.
const YIELDS: u32 = 4;

/// Of the addition that unlocks; weakened to see the model fail.
const GIVE: Ordering = if cfg!(sateen_canary = "adaptive_futex_give_relaxed") {
    Ordering::Relaxed
} else {
    Ordering::Release
};

/// Test and test-and-set that learns from earlier waits whether and how long to spin, and sleeps otherwise.
///
/// Uncontended, a locked instruction to take it and another to give it back. Whoever finds it held spins up to four times as long
/// as spinning has taken lately, at most [`SpinConfig::TESTS`] tests, yields a few times, then sleeps in the kernel. If there is nearly always
/// somebody who waits, more threads want the lock than it can serve: then hardly anybody spins, so that few threads
/// share it and its cache line stays where it is, while the others sleep. They take turns of about a tenth of a millisecond:
/// an unlock wakes one sleeper, the *heir*, and whoever holds the lock when the heir's patience ends hands it over.
/// (Dice, "Malthusian locks", 2017, has the idea of keeping away who is too many.)
///
/// Take it when nothing is known of sections, threads and cores. It is 24 bytes. A free lock may stay unused for a
/// tenth of a millisecond, while the heir of a crowd naps.
///
/// ```
/// let lock = lock_api::Mutex::<sateen_sync::spin::TtasAdaptiveFutex, _>::new(1);
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

    /// Takes it if it is free, whoever sleeps. Looking first keeps losers from taking the line away from the holder.
    #[inline(always)]
    fn take(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.load(Ordering::Relaxed) & LOCKED == 0
            && self.word.fetch_or(LOCKED, Ordering::Acquire) & LOCKED == 0
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
        // The holder may have lost its core to this thread.
        for _ in 0..if wait.limit == 0 { 0 } else { YIELDS } {
            yield_now();
            if self.spin(&mut waiter, 0) {
                return;
            }
        }
        if self.sleep() {
            self.inherit(&mut waiter);
        }
    }

    /// Tries for at most `limit` tests.
    fn spin(&self, waiter: &mut Waiter<C>, limit: u32) -> bool {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 {
                if self.take() {
                    return true;
                }
                waiter.collided();
            } else if word & DUE != 0 || !waiter.test(limit, || self.is_held()) {
                return false;
            }
        }
    }

    /// Sleeps until it is the heir (true), unless the lock has become free meanwhile, and was taken.
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
        while !take_away(&self.chosen) {
            self.chosen.wait(0, None);
        }
        true
    }

    /// The heir's way to the lock: by spinning; else, and in a crowd, leaving it alone for a while; then by claiming it.
    #[cold]
    fn inherit(&self, waiter: &mut Waiter<C>) {
        waiter.again();
        while !self.experience.is_crowded() {
            let word = self.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 {
                if self.claim(word) {
                    return;
                }
            } else if !waiter.test(waiter.limit(), || self.is_held()) {
                break;
            }
        }
        self.handed.wait(0, Some(NAP));
        waiter.again();
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if take_away(&self.handed) || word & LOCKED == 0 && self.claim(word) {
                return;
            }
            // Without `HEIR` it is being handed over just now.
            let still = if cfg!(sateen_canary = "adaptive_futex_due_again") { 0 } else { HEIR };
            if word & (LOCKED | still | DUE) == LOCKED | still {
                // Relaxed: the word's own order of changes decides whether the holder sees it.
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

    /// The heir takes the lock, which looked free.
    fn claim(&self, word: u32) -> bool {
        let new = (word | LOCKED) & !(HEIR | DUE);
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn try_take(&self) -> bool {
        self.take()
    }

    #[inline(always)]
    fn give(&self) {
        // Ordering: Release publishes the critical section to whoever takes the lock next.
        let word = self.word.fetch_sub(LOCKED, GIVE);
        if word != LOCKED {
            self.give_slow(word);
        }
    }

    /// The lock was given back, and somebody sleeps or is on the way.
    #[cold]
    fn give_slow(&self, mut word: u32) {
        word -= LOCKED;
        while word & LOCKED == 0 {
            let due = word & DUE != 0 && !cfg!(sateen_canary = "adaptive_futex_due_ignored");
            let (new, futex) = if due {
                ((word | LOCKED) & !(HEIR | DUE), &self.handed)
            } else if word & HEIR == 0 && word >= SLEEPER {
                (word - SLEEPER + HEIR, &self.chosen)
            } else {
                return;
            };
            #[cfg(sateen_canary = "adaptive_futex_none_chosen")]
            if !due {
                return;
            }
            // Ordering: Acquire, for the heir's sake: if somebody had the lock since, what it did there is handed over too.
            match self.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    // Ordering: Release publishes the critical section to the heir, in `take_away`.
                    futex.word().store(1, Ordering::Release);
                    futex.wake();
                    return;
                }
                Err(seen) => word = seen,
            }
        }
        // Whoever holds it now will see to the others.
    }

    fn is_held(&self) -> bool {
        self.word.load(Ordering::Relaxed) & LOCKED != 0
    }
}

/// Takes a 1 away, if there is one.
fn take_away(futex: &FutexWord) -> bool {
    // Ordering: Acquire pairs with the Release in `give_slow`.
    futex.word().load(Ordering::Relaxed) == 1
        && futex.word().compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

// SAFETY: changes of the word that set `LOCKED` in one without it let one through; a handing over lets the heir through
// instead of the one who unlocks, and there is one heir.
raw_mutex!(TtasAdaptiveFutex<C>);
