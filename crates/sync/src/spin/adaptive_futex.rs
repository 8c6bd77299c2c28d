//! The lock that learns and sleeps. Protocol and proof: `README.md`, section *Adaptive futex*.
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
use super::wait::Waiter;
use crate::sys::FutexWord;
use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;
use std::marker::PhantomData;

const LOCKED: u32 = 1;
const HEIR: u32 = 2;
const DUE: u32 = 4;
const SLEEPER: u32 = 8;

/// How often an heir that came in vain goes back to sleep before it has the lock handed over.
const PATIENCE: u32 = if cfg!(loom) { 1 } else { 16 };

/// Of the addition that unlocks; weakened to see the model fail.
#[inline(always)]
fn give() -> Ordering {
    if canary!("adaptive_futex_give_relaxed") { Ordering::Relaxed } else { Ordering::Release }
}

/// Of the exchange by which an heir goes back to sleep; as above.
#[inline(always)]
fn resign() -> Ordering {
    if canary!("adaptive_futex_resign_relaxed") { Ordering::Relaxed } else { Ordering::Release }
}

/// Of the store that says who is chosen, or has the lock handed over; as above.
#[inline(always)]
fn hand_over() -> Ordering {
    if canary!("adaptive_futex_hand_over_relaxed") { Ordering::Relaxed } else { Ordering::Release }
}

/// Test and test-and-set that learns from earlier waits how long to spin, and sleeps otherwise.
///
/// Uncontended, a locked instruction to take it and another to give it back. Whoever finds it held spins up to four times as
/// long as spinning has taken lately, at most [`SpinConfig::TESTS`] tests, then sleeps in the kernel. An unlock wakes one
/// sleeper, the *heir*, and nobody else is woken before it has got the lock or gone back to sleep. Running threads may
/// overtake it; one that has come in vain sixteen times has the lock handed over.
///
/// Take it when nothing is known of sections, threads and cores. It is 16 bytes.
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

    /// Takes it if it is free, whoever sleeps. Without looking first: a lock that is shared is often free, but not in
    /// this core's cache, and looking would fetch its line twice.
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
        self.wait_to_be_chosen();
        true
    }

    fn wait_to_be_chosen(&self) {
        while !take_away(&self.chosen) {
            self.chosen.wait(0, None);
        }
    }

    /// The heir's way to the lock: by spinning; else it goes back to sleep, so that the next unlock wakes somebody; and
    /// having come in vain often enough, by having it handed over.
    #[cold]
    fn inherit(&self, waiter: &mut Waiter<C>) {
        let mut came = 0;
        waiter.again();
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 {
                if self.claim(word) {
                    return;
                }
            } else if !waiter.test(waiter.limit(), || self.is_held()) {
                if came == PATIENCE {
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
            // Without `HEIR` it is being handed over just now.
            let still = if canary!("adaptive_futex_due_again") { 0 } else { HEIR };
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

    /// The heir is a sleeper again, if the lock is still held: so its next unlock looks for one.
    fn resign(&self, word: u32) -> bool {
        let new = word - HEIR + SLEEPER;
        if canary!("adaptive_futex_heir_stays") {
            return self
                .word
                .compare_exchange(word, word, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        }
        // Ordering: Release pairs with the Acquire in `give_slow`: the next 1 in `chosen` comes after this heir's was taken away.
        self.word.compare_exchange(word, new, resign(), Ordering::Relaxed).is_ok()
    }

    /// The heir takes the lock, which looked free.
    fn claim(&self, word: u32) -> bool {
        let new = (word | LOCKED) & !(HEIR | DUE);
        // Ordering: Acquire pairs with the Release in `give`.
        self.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn try_take(&self) -> bool {
        !self.is_held() && self.take()
    }

    #[inline(always)]
    fn give(&self) {
        // Ordering: Release publishes the critical section to whoever takes the lock next.
        let word = self.word.fetch_sub(LOCKED, give());
        if word != LOCKED {
            self.give_slow(word);
        }
    }

    /// The lock was given back, and somebody sleeps or is on the way.
    #[cold]
    fn give_slow(&self, mut word: u32) {
        word -= LOCKED;
        while word & LOCKED == 0 {
            let due = word & DUE != 0 && !canary!("adaptive_futex_due_ignored");
            let (new, futex) = if due {
                ((word | LOCKED) & !(HEIR | DUE), &self.handed)
            } else if word & HEIR == 0 && word >= SLEEPER {
                (word - SLEEPER + HEIR, &self.chosen)
            } else {
                return;
            };
            if canary!("adaptive_futex_none_chosen") && !due {
                return;
            }
            // Ordering: Acquire, for the heir's sake: if somebody had the lock since, what it did there is handed over too.
            match self.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    // Ordering: Release publishes the critical section to the heir, in `take_away`.
                    futex.word().store(1, hand_over());
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
