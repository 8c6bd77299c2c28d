//! The lock itself: one word and one wait queue. Protocol and proof: the crate's `README.md`, section
//! *Mutex*.
//!
//! | bit | set | meaning |
//! |---|---|---|
//! | `LOCKED` 1 | by the taker | held |
//! | `WAITERS` 2 | by a waiter that joins the queue, under the queue's lock | the queue may not be empty |
//! | `WAKING` 4 | by the unlocker that notifies, under the queue's lock | one notified waiter is on its way |
//! | `STARVED` 8 | by a waiter that rejoins after `PATIENCE` lost races, likewise | newcomers queue, they do not barge |
//!
//! The only word ever seen by an uncontended lock is 0 or `LOCKED`. `WAKING` belongs to the waiter on
//! its way: it clears it when it takes the lock or rejoins the queue, or hands it on when dropped.

use super::acquire::Acquire;
use crate::park;
use crate::wait_queue::WaitQueue;
use sateen_base::Backoff;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;
use std::fmt;
use std::pin::pin;

const LOCKED: u32 = 1;
const WAITERS: u32 = 2;
const WAKING: u32 = 4;
pub(super) const STARVED: u32 = 8;

/// Lost races after which a waiter bars newcomers. Counted and not timed: a race costs a thread some
/// microseconds and a fiber far less, and the bar should be as rare for both.
pub(super) const PATIENCE: u32 = if cfg!(loom) { 1 } else { 16 };
/// Doubling rounds of `pause` before queueing: 63 pauses, less than suspending a thread costs.
pub(super) const SPINS: u32 = if cfg!(loom) { 0 } else { 6 };

/// The lock under [`Mutex`](super::Mutex), without data: for building other locks.
///
/// It is a [`lock_api::RawMutex`], so `lock_api::Mutex<RawMutex, T>` works too. It may be unlocked by
/// another thread than the one that locked it.
///
/// An unlock has made its last access to the lock before the next user can be through with it: whoever
/// takes the lock, and learns thereby that nobody else will, may free it.
///
/// ```
/// use lock_api::RawMutex as _;
/// static LOCK: sateen_sync::RawMutex = sateen_sync::RawMutex::new();
/// LOCK.lock();
/// assert!(!LOCK.try_lock());
/// // SAFETY: locked above.
/// unsafe { LOCK.unlock() };
/// ```
pub struct RawMutex {
    word: AtomicU32,
    pub(super) queue: WaitQueue,
}

impl RawMutex {
    crate::sys::const_except_loom! {
        /// A free lock.
        pub const fn new() -> Self {
            Self { word: AtomicU32::new(0), queue: WaitQueue::new() }
        }
    }

    /// Takes the lock: blocks the thread, or suspends the fiber, while it is held.
    #[inline]
    pub(crate) fn acquire(&self) {
        if !self.acquire_fast() {
            self.acquire_slow();
        }
    }

    /// Takes the lock if it is free and no starved waiter bars the way.
    ///
    /// Looking before exchanging costs nothing that can be measured when the line is here, and spares a
    /// failing exchange while a waiter is on its way: the usual state of a contended lock. (8 threads
    /// on 2 cores: 9.9 ns instead of 19.5.)
    #[inline(always)]
    fn acquire_fast(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        // Ordering: Acquire pairs with the Release of the last unlock.
        may_take(word, false)
            && self
                .word
                .compare_exchange_weak(word, word | LOCKED, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    #[cold]
    fn acquire_slow(&self) {
        if !self.spin(false, SPINS) {
            self.acquire_queued();
        }
    }

    fn acquire_queued(&self) {
        let mut acquire = pin!(Acquire::new(self));
        while acquire.as_mut().attempt(park::current_waker).is_pending() {
            acquire.as_mut().wait();
        }
    }

    /// Takes the lock if it is free; barges past everybody who waits.
    #[inline]
    pub(crate) fn try_acquire(&self) -> bool {
        self.acquire_fast() || self.take(|word| word & LOCKED == 0, 0)
    }

    /// Takes the lock if `may` agrees with the word, clearing `clear` with it.
    fn take(&self, may: impl Fn(u32) -> bool, clear: u32) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while may(word) {
            let new = (word | LOCKED) & !clear;
            // Ordering: Acquire pairs with the Release in `release` and `release_slow`.
            match self.word.compare_exchange_weak(word, new, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Tries for as long as a short critical section takes.
    pub(super) fn spin(&self, on_the_way: bool, rounds: u32) -> bool {
        let clear = if on_the_way { WAKING | STARVED } else { 0 };
        let mut backoff = Backoff::new();
        for round in 0.. {
            if self.take(|word| may_take(word, on_the_way), clear) {
                return true;
            }
            if round == rounds {
                break;
            }
            // A newcomer does not spin past a queue.
            let word = self.word.load(Ordering::Relaxed);
            if !on_the_way && word & (WAITERS | STARVED) != 0 {
                break;
            }
            backoff.spin();
        }
        false
    }

    /// Whether somebody holds it, at some moment.
    pub(crate) fn is_held(&self) -> bool {
        self.word.load(Ordering::Relaxed) & LOCKED != 0
    }

    /// Gives the lock back and wakes a waiter, if there is one and none is on its way already. The
    /// caller holds it.
    #[inline]
    pub(crate) fn release(&self) {
        #[cfg(not(sateen_canary = "mutex_unlock_relaxed"))]
        let order = Ordering::Release;
        #[cfg(sateen_canary = "mutex_unlock_relaxed")]
        let order = Ordering::Relaxed;
        let word = self.word.load(Ordering::Relaxed);
        let wake = word & (WAITERS | WAKING) == WAITERS;
        // Ordering: Release publishes the critical section to the next `acquire_fast` or `take`.
        if wake
            || self.word.compare_exchange(word, word & !LOCKED, order, Ordering::Relaxed).is_err()
        {
            self.release_slow();
        }
    }

    #[cold]
    fn release_slow(&self) {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & WAITERS == 0 || word & WAKING != 0 {
                // Nobody to wake, or somebody is on the way already, and the others are woken by
                // whoever takes the lock.
                // Ordering: Release as in `release`.
                let new = word & !LOCKED;
                if self
                    .word
                    .compare_exchange(word, new, Ordering::Release, Ordering::Relaxed)
                    .is_ok()
                {
                    return;
                }
                continue;
            }
            // Nobody is on the way, and only the holder can change that: `WAKING` is still clear when
            // the closure runs.
            let found = self.queue.notify_one_with(|outcome| {
                if outcome.found {
                    // Ordering: Release as in `release`. The waiter that was taken out cannot return
                    // before this closure's lock is released, so the mutex still exists then.
                    self.update(Ordering::Release, |word| {
                        (word & !LOCKED & !no_more(outcome.more)) | WAKING
                    });
                } else {
                    self.update(Ordering::Relaxed, |word| word & !(WAITERS | STARVED));
                }
            });
            if found {
                return;
            }
        }
    }

    /// A notified waiter gives up: its place on the way to the lock goes to the next, if there is one.
    pub(super) fn pass_on(&self) {
        #[cfg(not(sateen_canary = "mutex_permit_dropped"))]
        self.queue.notify_one_with(|outcome| {
            self.update(Ordering::Relaxed, |word| {
                if outcome.found { word & !no_more(outcome.more) } else { word & LOCKED }
            });
        });
    }

    /// Under the queue's lock, before joining: true if the lock can be taken instead, otherwise the
    /// word says that somebody waits.
    pub(super) fn cannot_join(&self, on_the_way: bool, starved: u32) -> bool {
        let give_up = if on_the_way { WAKING } else { 0 };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if may_take(word, on_the_way) {
                return true;
            }
            #[cfg(not(sateen_canary = "mutex_waiters_bit_missing"))]
            let new = (word | WAITERS | starved) & !give_up;
            #[cfg(sateen_canary = "mutex_waiters_bit_missing")]
            let new = (word | starved) & !give_up;
            // Relaxed: the word's own order of changes decides whether the holder sees the bit, and
            // the queue's lock publishes the node.
            match self.word.compare_exchange_weak(word, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return false,
                Err(seen) => word = seen,
            }
        }
    }

    fn update(&self, order: Ordering, change: impl Fn(u32) -> u32) {
        let mut word = self.word.load(Ordering::Relaxed);
        // Ordering: the caller's, argued there.
        while let Err(seen) =
            self.word.compare_exchange_weak(word, change(word), order, Ordering::Relaxed)
        {
            word = seen;
        }
    }
}

/// The bit to clear when the last waiter has left the queue.
fn no_more(more: bool) -> u32 {
    if more { 0 } else { WAITERS }
}

/// Newcomers respect `STARVED`; whoever has been woken may take whatever is free.
#[inline(always)]
fn may_take(word: u32, on_the_way: bool) -> bool {
    word & LOCKED == 0 && (on_the_way || word & STARVED == 0)
}

impl Default for RawMutex {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RawMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMutex").field("locked", &self.is_held()).finish_non_exhaustive()
    }
}

// SAFETY: only a successful exchange that sets `LOCKED` on a word without it lets a caller through,
// and only `unlock` clears it.
unsafe impl lock_api::RawMutex for RawMutex {
    #[cfg(not(loom))]
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self::new();
    #[cfg(loom)]
    const INIT: Self = panic!("loom locks are made with `lock_api::Mutex::from_raw`");

    // Nothing ties the holder to a thread.
    type GuardMarker = lock_api::GuardSend;

    #[inline]
    fn lock(&self) {
        self.acquire();
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.try_acquire()
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.release();
    }

    fn is_locked(&self) -> bool {
        self.is_held()
    }
}
