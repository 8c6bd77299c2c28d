//! The raw mutex: one word and one wait queue. Protocol and proof: the crate's `README.md`, section
//! *Mutex*.
//!
//! | bit | set | meaning |
//! |---|---|---|
//! | `LOCKED` 1 | by the taker | held |
//! | `WAITERS` 2 | by a waiter that joins, under the queue's lock | the queue may not be empty |
//! | `WAKING` 4 | by the unlocker that notifies, under that lock | one woken waiter is on its way |
//! | `STARVED` 8 | after `BARGE_LIMIT` lost races; by a fair unlock | newcomers do not barge |
//! | `FAIR` 16 | by the constructor, for good | each unlock is fair, `try_lock` is barred too |
//!
//! Apart from `FAIR`, the word of an uncontended lock is only ever 0 or `LOCKED`. The waiter on its
//! way owns `WAKING`. It clears the bit when it takes the lock or rejoins the queue, or passes it
//! on when dropped.

use super::acquire::Acquire;
use crate::hook::{self, Awaited};
use crate::spin_phase::SpinPhase;
use crate::wait_queue::WaitQueue;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU8;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::unwind::run_and_discard;
use std::fmt;
use std::pin::pin;

const LOCKED: u8 = 1;
const WAITERS: u8 = 2;
const WAKING: u8 = 4;
pub(super) const STARVED: u8 = 8;
const FAIR: u8 = 16;

/// Lost races after which a waiter bars newcomers. Races are counted, not timed: a race costs a
/// thread some microseconds and a fiber far less, and barring should be equally rare for both.
pub(crate) const BARGE_LIMIT: u32 = if cfg!(loom) { 1 } else { 16 };

/// The lock of [`Mutex`](super::Mutex), without data, for building other locks.
///
/// It is a [`lock_api::RawMutex`], so `lock_api::Mutex<RawMutex, T>` works too. Any thread may
/// unlock it.
///
/// Neither locking nor unlocking unwinds. Cancelling a task ends its wait only if the wait has a
/// time limit, and a waker's panic is discarded by the unlock. (The guards of `lock_api` could
/// tolerate neither while they are temporarily unlocked; those of [`Mutex`](super::Mutex) can.)
///
/// An unlock makes its last access to the lock before the next holder can finish. So a thread that
/// takes the lock, and thereby learns that no other will, may free it.
///
/// ```
/// use lock_api::RawMutex as _;
/// static LOCK: sateen::sync::RawMutex = sateen::sync::RawMutex::new();
/// LOCK.lock();
/// assert!(!LOCK.try_lock());
/// // SAFETY: locked above.
/// unsafe { LOCK.unlock() };
/// ```
pub struct RawMutex {
    word: AtomicU8,
    pub(super) queue: WaitQueue,
    owner: Owner,
}

impl RawMutex {
    crate::sys::const_except_loom! {
        /// A free lock.
        pub const fn new() -> Self {
            Self { word: AtomicU8::new(0), queue: WaitQueue::new(), owner: Owner::new() }
        }
    }

    crate::sys::const_except_loom! {
        /// A free lock on which no locker overtakes another; see
        /// [`Mutex::fair`](super::Mutex::fair).
        pub const fn fair() -> Self {
            Self { word: AtomicU8::new(FAIR), queue: WaitQueue::new(), owner: Owner::new() }
        }
    }

    /// Acquires the lock: blocks the thread, or suspends the fiber, while it is held.
    #[inline]
    pub(crate) fn acquire(&self) {
        if !self.acquire_fast() {
            self.acquire_slow();
        }
        self.owner.set();
    }

    /// Like [`acquire`](Self::acquire), but a cancellation does not end the wait. For guards that
    /// were temporarily unlocked and stand for a held lock.
    #[inline]
    pub(crate) fn acquire_uninterrupted(&self) {
        if !self.acquire_fast() {
            hook::uninterrupted(|| self.acquire_slow());
        }
        self.owner.set();
    }

    /// Acquires the lock if possible before `deadline`; `None` is no limit.
    #[inline]
    pub(crate) fn acquire_until(&self, deadline: Option<Instant>) -> bool {
        let taken = self.acquire_fast() || self.acquire_until_slow(deadline);
        if taken {
            self.owner.set();
        }
        taken
    }

    /// Acquires the lock if no thread holds it, waits for it or is on its way.
    ///
    /// It does not load the word first: the load would wait for the locked instruction of the last
    /// unlock.
    #[inline(always)]
    fn acquire_fast(&self) -> bool {
        // Ordering: Acquire pairs with the Release of the last unlock.
        self.word.compare_exchange_weak(0, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn acquire_slow(&self) {
        if !self.spin(false, SpinPhase::new()) {
            self.acquire_queued(None);
        }
    }

    #[cold]
    fn acquire_until_slow(&self, deadline: Option<Instant>) -> bool {
        self.spin(false, SpinPhase::new()) || self.acquire_queued(deadline)
    }

    fn acquire_queued(&self, deadline: Option<Instant>) -> bool {
        let place = std::ptr::from_ref(self).cast();
        // SAFETY: a waiter borrows the mutex.
        let what = unsafe { Awaited::new("mutex", place).with_owner(owner_of) };
        hook::waiting_for(what, || {
            let mut acquire = pin!(Acquire::new(self, true));
            while acquire.as_mut().attempt(hook::current_waker).is_pending() {
                if !acquire.as_mut().wait_until(deadline) {
                    return false;
                }
            }
            true
        })
    }

    /// Acquires the lock if it is free. It barges past all waiters, unless the lock is fair.
    #[inline]
    pub(crate) fn try_acquire(&self) -> bool {
        let barred = |word| word & LOCKED != 0 || word & (FAIR | STARVED) == FAIR | STARVED;
        let taken = self.acquire_fast() || self.take(|word| !barred(word), 0);
        if taken {
            self.owner.set();
        }
        taken
    }

    /// The future's entry point.
    pub(super) fn acquired(&self) {
        self.owner.set();
    }

    /// Whether a waiter is queued or on its way, at some moment.
    pub(crate) fn has_waiters(&self) -> bool {
        self.word.load(Ordering::Relaxed) & (WAITERS | WAKING) != 0
    }

    /// Takes the lock if `may` accepts the word, and clears `clear` with it.
    fn take(&self, may: impl Fn(u8) -> bool, clear: u8) -> bool {
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

    /// Spins for as long as a short critical section takes.
    pub(super) fn spin(&self, on_the_way: bool, mut phase: SpinPhase) -> bool {
        let clear = if on_the_way { WAKING | STARVED } else { 0 };
        loop {
            if self.take(|word| may_take(word, on_the_way), clear) {
                return true;
            }
            // A newcomer spins past the queue, unless a waiter bars it. If it slept as well, each
            // release would have to wake a thread as long as the lock is contended.
            if !on_the_way && self.word.load(Ordering::Relaxed) & STARVED != 0 {
                return false;
            }
            if !phase.wait() {
                return false;
            }
        }
    }

    /// Whether the lock is held at some moment.
    pub(crate) fn is_held(&self) -> bool {
        self.word.load(Ordering::Relaxed) & LOCKED != 0
    }

    /// Releases the lock, and wakes a waiter if there is one and none is on its way. The caller
    /// holds the lock.
    #[inline]
    pub(crate) fn release(&self) {
        // Ordering: Release publishes the critical section to the next `acquire_fast` or `take`.
        if self.word.compare_exchange(LOCKED, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.release_slow(0);
        }
    }

    /// Releases the lock so that the first waiter, if there is one, gets it next: newcomers are
    /// barred until it arrives. The caller holds the lock.
    pub(crate) fn release_fair(&self) {
        self.release_slow(STARVED);
    }

    /// Like [`release`](Self::release), but a panic of the waker is discarded.
    #[inline]
    pub(crate) fn release_quietly(&self) {
        // Ordering: Release as in `release`.
        if self.word.compare_exchange(LOCKED, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            run_and_discard(|| self.release_slow(0));
        }
    }

    /// `bar` is `STARVED` if a waiter must be next.
    #[cold]
    fn release_slow(&self, bar: u8) {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            let bar = if word & FAIR != 0 { STARVED } else { bar };
            if word & WAITERS == 0 || word & WAKING != 0 {
                // Either no waiter needs waking, or one is already on its way. In the latter case
                // the thread that takes the lock wakes the others.
                // Ordering: Release as in `release`.
                let new = word & !LOCKED | if word & WAKING != 0 { bar } else { 0 };
                if self
                    .word
                    .compare_exchange(word, new, Ordering::Release, Ordering::Relaxed)
                    .is_ok()
                {
                    return;
                }
                continue;
            }
            // No waiter is on its way, and only the holder can change that, so `WAKING` is still
            // clear when the closure runs.
            let found = self.queue.notify_one_then(|outcome| {
                if outcome.found {
                    // Ordering: Release as in `release`. The waiter taken out cannot return before
                    // this closure's lock is released, so the mutex still exists then.
                    self.update(Ordering::Release, |word| {
                        (word & !LOCKED & !no_more(outcome.more)) | WAKING | bar
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

    /// A notified waiter gives up: wakes the next waiter instead, if there is one.
    pub(super) fn pass_on(&self) {
        self.queue.notify_one_then(|outcome| {
            self.update(Ordering::Relaxed, |word| {
                if outcome.found { word & !no_more(outcome.more) } else { word & (LOCKED | FAIR) }
            });
        });
    }

    /// Under the queue's lock, before joining: returns true if the lock can be taken instead.
    /// Otherwise the word records that a waiter is queued.
    pub(super) fn cannot_join(&self, on_the_way: bool, starved: u8) -> bool {
        let give_up = if on_the_way { WAKING } else { 0 };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if may_take(word, on_the_way) {
                return true;
            }
            let new = (word | WAITERS | starved) & !give_up;
            // Relaxed: the word's modification order decides whether the holder sees the bit, and
            // the queue's lock publishes the node.
            match self.word.compare_exchange_weak(word, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return false,
                Err(seen) => word = seen,
            }
        }
    }

    fn update(&self, order: Ordering, change: impl Fn(u8) -> u8) {
        let mut word = self.word.load(Ordering::Relaxed);
        // Ordering: the caller's, argued there.
        while let Err(seen) =
            self.word.compare_exchange_weak(word, change(word), order, Ordering::Relaxed)
        {
            word = seen;
        }
    }
}

/// The owner of a lock, for reports: the context that took it last. Unlocking does not clear it. It
/// decides nothing, so it is not modelled.
struct Owner(#[cfg(not(loom))] sateen_base::prim::AtomicU64);

impl Owner {
    const fn new() -> Self {
        Self(
            #[cfg(not(loom))]
            sateen_base::prim::AtomicU64::new(0),
        )
    }

    #[inline(always)]
    fn set(&self) {
        #[cfg(not(loom))]
        {
            let id = hook::known_context_id();
            // The unlock's locked instruction would wait for a store, but not for a load.
            if self.0.load(Ordering::Relaxed) != id {
                self.0.store(id, Ordering::Relaxed);
            }
        }
    }

    fn get(&self) -> u64 {
        #[cfg(not(loom))]
        return self.0.load(Ordering::Relaxed);
        #[cfg(loom)]
        0
    }
}

/// The owner of the mutex at `place`; 0 if it is free.
///
/// # Safety
/// `place` is a valid [`RawMutex`].
unsafe fn owner_of(place: *const ()) -> u64 {
    // SAFETY: by contract.
    let mutex = unsafe { &*place.cast::<RawMutex>() };
    if mutex.is_held() { mutex.owner.get() } else { 0 }
}

/// The bit to clear when the last waiter has left the queue.
fn no_more(more: bool) -> u8 {
    if more { 0 } else { WAITERS }
}

/// Newcomers respect `STARVED`; a woken waiter may take any free lock.
#[inline(always)]
fn may_take(word: u8, on_the_way: bool) -> bool {
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

// The guards of `lock_api` unlock and relock (`unlocked`, `bump`) by these calls, and stand for a
// held lock all the while. So neither call unwinds: waits are not interrupted, and panics of wakers
// are discarded. SAFETY: only a successful exchange that sets `LOCKED` on a word without it lets a
// caller through, and only `unlock` clears it.
unsafe impl lock_api::RawMutex for RawMutex {
    #[cfg(not(loom))]
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self::new();
    #[cfg(loom)]
    const INIT: Self = panic!("loom locks are made with `lock_api::Mutex::from_raw`");

    // The holder is not tied to a thread.
    type GuardMarker = lock_api::GuardSend;

    #[inline]
    fn lock(&self) {
        self.acquire_uninterrupted();
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.try_acquire()
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.release_quietly();
    }

    fn is_locked(&self) -> bool {
        self.is_held()
    }
}

// SAFETY: as for `RawMutex`: a fair unlock is an unlock.
unsafe impl lock_api::RawMutexFair for RawMutex {
    unsafe fn unlock_fair(&self) {
        run_and_discard(|| self.release_fair());
    }

    unsafe fn bump(&self) {
        if self.has_waiters() {
            run_and_discard(|| self.release_fair());
            self.acquire_uninterrupted();
        }
    }
}

// SAFETY: as for `RawMutex`: true is returned only to a caller that took the lock.
unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_for(&self, timeout: Duration) -> bool {
        self.acquire_until(Instant::now().checked_add(timeout))
    }

    fn try_lock_until(&self, timeout: Instant) -> bool {
        self.acquire_until(Some(timeout))
    }
}
