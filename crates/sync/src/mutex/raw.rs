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

use crate::park;
use crate::wait_queue::{Cancelled, Place, WaitQueue, Waiter};
use sateen_base::Backoff;
use sateen_base::prim::{AtomicU32, Ordering};
use std::fmt;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

const LOCKED: u32 = 1;
const WAITERS: u32 = 2;
const WAKING: u32 = 4;
const STARVED: u32 = 8;

/// Lost races after which a waiter bars newcomers from overtaking it. Each costs the holder a wake-up,
/// so this bounds how long barging goes on, in wake-ups and not in time: threads and fibers alike.
const PATIENCE: u32 = if cfg!(loom) { 1 } else { 16 };
/// Doubling rounds of `pause` before queueing: 63 pauses, less than suspending a thread costs.
const SPINS: u32 = if cfg!(loom) { 0 } else { 10 };

/// The lock under [`Mutex`](super::Mutex), without data: for building other locks.
///
/// It is a [`lock_api::RawMutex`], so `lock_api::Mutex<RawMutex, T>` works too. It may be unlocked by
/// another thread than the one that locked it.
///
/// The last access of an unlock that lets another locker *return* is the one that lets it: whoever
/// takes the lock and thereby learns that it is the last user may free it.
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
    queue: WaitQueue,
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

    /// Takes the lock if nobody holds it, wants it or is on the way to it.
    #[inline(always)]
    pub(super) fn acquire_fast(&self) -> bool {
        // Ordering: Acquire pairs with the Release of the unlock that left 0 (or of the last one, by
        // the release sequence).
        self.word.compare_exchange_weak(0, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn acquire_slow(&self) {
        if self.spin(false) {
            return;
        }
        self.acquire_queued();
    }

    #[cold]
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
    fn spin(&self, on_the_way: bool) -> bool {
        let clear = if on_the_way { WAKING | STARVED } else { 0 };
        let mut backoff = Backoff::new();
        for round in 0.. {
            if self.take(|word| may_take(word, on_the_way), clear) {
                return true;
            }
            // A newcomer does not spin past a queue.
            let word = self.word.load(Ordering::Relaxed);
            if round == SPINS || (!on_the_way && word & (WAITERS | STARVED) != 0) {
                return false;
            }
            backoff.snooze();
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
        // Ordering: Release publishes the critical section to the next `acquire_fast` or `take`.
        if self.word.compare_exchange(LOCKED, 0, order, Ordering::Relaxed).is_err() {
            self.release_slow();
        }
    }

    #[cold]
    fn release_slow(&self) {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & WAITERS == 0 || word & WAKING != 0 {
                // Nobody to wake, or somebody is awake already and will see to it that the others
                // are woken.
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
            // `WAITERS` is cleared, and `WAKING` set, only under the queue's lock and by the holder:
            // both are still as seen when the closure runs.
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
    fn pass_on(&self) {
        #[cfg(not(sateen_canary = "mutex_permit_dropped"))]
        self.queue.notify_one_with(|outcome| {
            self.update(Ordering::Relaxed, |word| {
                if outcome.found { word & !no_more(outcome.more) } else { word & LOCKED }
            });
        });
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

/// One locker in the slow path, whether it blocks or is polled.
///
/// It holds the `WAKING` bit while `on_the_way`, and from being notified until it notices.
pub(super) struct Acquire<'a> {
    raw: &'a RawMutex,
    waiter: Waiter<'a>,
    on_the_way: bool,
    /// How often it was notified and then found the lock taken.
    lost: u32,
}

impl<'a> Acquire<'a> {
    pub(super) fn new(raw: &'a RawMutex) -> Self {
        Self { raw, waiter: Waiter::new(&raw.queue), on_the_way: false, lost: 0 }
    }

    fn waiter(self: Pin<&mut Self>) -> Pin<&mut Waiter<'a>> {
        // SAFETY: the waiter is pinned with us and never moved out.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiter) }
    }

    fn set_on_the_way(self: Pin<&mut Self>, on_the_way: bool) {
        // SAFETY: a plain field; nothing is moved.
        unsafe { self.get_unchecked_mut().on_the_way = on_the_way }
    }

    /// The waiter was notified: it is on its way now.
    fn set_out(mut self: Pin<&mut Self>) {
        self.as_mut().set_on_the_way(true);
        // SAFETY: a plain field; nothing is moved. It cannot overflow: past `PATIENCE` nobody overtakes
        // but `try_lock`, and saturating costs nothing.
        let lost = unsafe { &mut self.get_unchecked_mut().lost };
        *lost = lost.saturating_add(1);
    }

    /// Takes the lock (ready), or joins the queue with `waker()` (pending).
    pub(super) fn attempt(mut self: Pin<&mut Self>, mut waker: impl FnMut() -> Waker) -> Poll<()> {
        let raw = self.raw;
        let place = if self.lost == 0 { Place::Back } else { Place::Front };
        let starved = if self.lost >= PATIENCE { STARVED } else { 0 };
        loop {
            let on_the_way = self.on_the_way;
            if raw.spin(on_the_way) {
                self.set_on_the_way(false);
                return Poll::Ready(());
            }
            let queued = self
                .as_mut()
                .waiter()
                .enqueue(place, waker(), || raw.cannot_join(on_the_way, starved));
            if queued {
                self.set_on_the_way(false);
                return Poll::Pending;
            }
        }
    }

    /// Blocks until notified.
    fn wait(mut self: Pin<&mut Self>) {
        self.as_mut().waiter().wait();
        self.set_out();
    }

    /// For a future: as [`attempt`](Self::attempt), once it has been notified.
    pub(super) fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.as_mut().waiter().is_waiting() {
            if self.as_mut().waiter().poll_wait(cx).is_pending() {
                return Poll::Pending;
            }
            self.as_mut().set_out();
        }
        self.attempt(|| cx.waker().clone())
    }
}

/// Newcomers respect `STARVED`; whoever has been woken may take whatever is free.
fn may_take(word: u32, on_the_way: bool) -> bool {
    word & LOCKED == 0 && (on_the_way || word & STARVED == 0)
}

impl RawMutex {
    /// Under the queue's lock, before joining: true if the lock can be taken instead, otherwise the
    /// word says that somebody waits.
    fn cannot_join(&self, on_the_way: bool, starved: u32) -> bool {
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
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        // SAFETY: we are pinned if the waiter was ever queued, and are not moved before the end.
        let waiter = unsafe { Pin::new_unchecked(&mut self.waiter) };
        if matches!(waiter.cancel(), Cancelled::Notified(_)) || self.on_the_way {
            self.raw.pass_on();
        }
    }
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
