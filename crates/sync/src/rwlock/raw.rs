//! The raw reader-writer lock: one word, a mutex as a gate, and a queue. Protocol and proof: the
//! crate's `README.md`, section *RwLock*.
//!
//! | bits | set | meaning |
//! |---|---|---|
//! | `WRITER` 1 | by the writer | held exclusively: no readers, no `UPGRADABLE` |
//! | `UPGRADABLE` 2 | by the upgradable reader | held upgradably; not counted as a reader |
//! | `UPGRADING` 4 | by the same one, under the queue's lock | waits for readers; bars newcomers |
//! | `HEAD` 8 | by the gate's holder, under the queue's lock | waits for the word to admit it |
//! | `BARRED` 16 | by the same one, and by a fair unlock while `HEAD` | newcomers go to the gate |
//! | 32 and up | by readers | how many hold it shared; full while the highest bit, `FULL`, is set |
//!
//! A `usize` of 32 bits counts 2^26 readers. A reader that finds the lock full waits, as for a
//! writer. So forgotten guards can block the lock, but never make it free.
//!
//! The holder of the gate clears `HEAD` and `BARRED` when it gets the lock or gives up. The reader
//! that set `UPGRADING` does the same with that bit.

use super::acquire::Acquire;
use crate::hook::uninterrupted;
use crate::mutex::RawMutex;
use crate::spin_phase::SpinPhase;
use crate::wait_queue::WaitQueue;
use crate::waiting::{awaited, block, block_timeout};
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicUsize;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::unwind::run_and_discard;
use std::fmt;

const WRITER: usize = 1;
const UPGRADABLE: usize = 2;
const UPGRADING: usize = 4;
const HEAD: usize = 8;
const BARRED: usize = 16;
const READER: usize = 32;
/// Half of the readers that could be counted; no more are admitted.
const FULL: usize = 1 << (usize::BITS - 1);

/// What a caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    /// For a caller that may already be reading: it must not wait for a waiter that waits for
    /// readers.
    ReadAgain,
    Upgradable,
    Write,
    /// From upgradable to exclusive.
    Upgrade,
}

impl Kind {
    /// The word after granting this from `word`, or `None` if it is refused. `head`: the caller
    /// holds the gate.
    #[inline(always)]
    fn grant(self, word: usize, head: bool) -> Option<usize> {
        let bar = if head { 0 } else { BARRED };
        let (excludes, new) = match self {
            Self::Read => (WRITER | UPGRADING | FULL | bar, word.wrapping_add(READER)),
            Self::ReadAgain => (WRITER | FULL, word.wrapping_add(READER)),
            Self::Upgradable => (WRITER | UPGRADABLE | bar, word | UPGRADABLE),
            Self::Write => (!(UPGRADING | HEAD | BARRED) | bar, word | WRITER),
            Self::Upgrade => {
                (!(UPGRADABLE | UPGRADING | HEAD | BARRED), word ^ UPGRADABLE ^ WRITER)
            }
        };
        match (word & excludes == 0, self) {
            (false, _) => None,
            (true, Self::Upgrade) => Some(new & !UPGRADING),
            (true, _) if head => Some(new & !(HEAD | BARRED)),
            (true, _) => Some(new),
        }
    }
}

/// The lock of [`RwLock`](super::RwLock), without data, for building other locks.
///
/// It implements all of `lock_api`'s traits for such locks, so `lock_api::RwLock<RawRwLock, T>` has
/// upgradable and timed locking, downgrading and fair unlocking. Any thread may unlock it. It must
/// not be freed while an unlock is in progress.
///
/// As with [`RawMutex`](crate::RawMutex), neither locking nor unlocking unwinds.
pub struct RawRwLock {
    word: AtomicUsize,
    /// Where waiters line up. Its holder is the head, which alone waits for the word.
    pub(super) gate: RawMutex,
    /// The head and the upgrading reader wait here: two at most.
    pub(super) queue: WaitQueue,
}

impl RawRwLock {
    crate::sys::const_except_loom! {
        /// A free lock.
        pub const fn new() -> Self {
            Self { word: AtomicUsize::new(0), gate: RawMutex::new(), queue: WaitQueue::new() }
        }
    }

    /// Takes the lock if that is possible at once.
    #[inline]
    pub(super) fn try_take(&self, kind: Kind, head: bool) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while let Some(new) = kind.grant(word, head) {
            // Ordering: Acquire pairs with the Release of earlier holders.
            match self.word.compare_exchange_weak(word, new, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Like [`try_take`](Self::try_take), but a writer does not load the word first: the load would
    /// wait for the locked instruction of the last unlock.
    #[inline]
    fn take_fast(&self, kind: Kind) -> bool {
        // Ordering: Acquire as in `try_take`.
        (kind == Kind::Write
            && self.word.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok())
            || self.try_take(kind, false)
    }

    /// Spins for as long as a short critical section takes. `head`: the caller holds the gate.
    pub(super) fn spin(&self, kind: Kind, head: bool, mut phase: SpinPhase) -> bool {
        loop {
            if self.try_take(kind, head) {
                return true;
            }
            // A newcomer spins past a waiter that does not bar it, as with the mutex.
            let barred = !head && self.word.load(Ordering::Relaxed) & (BARRED | UPGRADING) != 0;
            if barred || !phase.wait() {
                return false;
            }
        }
    }

    /// Takes the lock. The wait is not interrupted: see `conventions.rs`.
    #[inline]
    pub(super) fn take(&self, kind: Kind) {
        if !self.take_fast(kind) {
            self.take_slow(kind);
        }
    }

    #[cold]
    fn take_slow(&self, kind: Kind) {
        uninterrupted(|| block(awaited("rwlock", self), Acquire::new(self, kind, true)));
    }

    /// Upgrades an upgradable reader to the writer. Cancelling its task ends the wait; it then
    /// still reads.
    #[inline]
    pub(super) fn upgrade(&self) {
        if !self.try_take(Kind::Upgrade, false) {
            self.upgrade_slow();
        }
    }

    #[cold]
    fn upgrade_slow(&self) {
        block(awaited("rwlock", self), Acquire::new(self, Kind::Upgrade, true));
    }

    pub(super) fn take_for(&self, kind: Kind, timeout: Duration) -> bool {
        self.try_take(kind, false)
            || block_timeout(awaited("rwlock", self), timeout, Acquire::new(self, kind, true))
                .is_some()
    }

    pub(super) fn take_until(&self, kind: Kind, deadline: Instant) -> bool {
        self.try_take(kind, false)
            || self.take_for(kind, deadline.saturating_duration_since(Instant::now()))
    }

    /// Under the queue's lock, before joining: returns true if the lock can be taken after all.
    /// Otherwise the word records that this locker waits.
    pub(super) fn cannot_join(&self, kind: Kind, bar: bool) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while kind.grant(word, true).is_none() {
            // A writer that waits for readers bars new ones; otherwise there might always be some.
            let bar = bar || (kind == Kind::Write && word >= READER);
            let mark = match kind {
                Kind::Upgrade => UPGRADING,
                _ => HEAD | if bar { BARRED } else { 0 },
            };
            // Relaxed: the word's modification order decides whether an unlock sees the mark, and
            // the queue's lock publishes the node.
            let new = word | mark;
            match self.word.compare_exchange_weak(word, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return false,
                Err(seen) => word = seen,
            }
        }
        true
    }

    /// A waiter for the word, the head or one that upgrades, gives up.
    pub(super) fn give_up(&self, kind: Kind) {
        if kind == Kind::Upgrade {
            self.changed(self.word.fetch_and(!UPGRADING, Ordering::Relaxed));
        } else {
            self.word.fetch_and(!(HEAD | BARRED), Ordering::Relaxed);
            self.gate.release_quietly();
        }
    }

    /// Releases the lock, or with `add` changes how it is held.
    #[inline]
    pub(super) fn give_back(&self, held: usize, add: usize) {
        // Ordering: Release pairs with the Acquire in `try_take`; for a writer it orders the
        // readers' reads too.
        let word = self.word.fetch_add(add.wrapping_sub(held), Ordering::Release);
        // While other readers hold it, no waiter can be admitted.
        if word & (HEAD | UPGRADING) != 0 && (held != READER || word < 2 * READER) {
            self.changed(word);
        }
    }

    /// Lets the waiters check again; `word` is its previous value. A waker's panic is discarded:
    /// see `conventions.rs`.
    #[cold]
    fn changed(&self, word: usize) {
        if word & (HEAD | UPGRADING) != 0 {
            run_and_discard(|| self.queue.notify_all());
        }
    }

    /// Makes the waiter at the head the next: newcomers are barred until it arrives.
    pub(super) fn bar(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & HEAD != 0 {
            let new = word | BARRED;
            match self.word.compare_exchange_weak(word, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => word = seen,
            }
        }
    }

    pub(super) fn word(&self) -> Held {
        let word = self.word.load(Ordering::Relaxed);
        Held { writer: word & WRITER != 0, any: word & !(HEAD | BARRED) != 0 }
    }
}

/// How the lock is held, at some moment.
pub(super) struct Held {
    pub(super) writer: bool,
    pub(super) any: bool,
}

/// The argument of [`RawRwLock::give_back`].
pub(super) const HELD_READ: usize = READER;
pub(super) const HELD_WRITE: usize = WRITER;
pub(super) const HELD_UPGRADABLE: usize = UPGRADABLE;

impl Default for RawRwLock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RawRwLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.word();
        f.debug_struct("RawRwLock")
            .field("locked", &held.any)
            .field("exclusively", &held.writer)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn readers_are_not_counted_past_what_a_word_holds() {
        let nearly = FULL - READER;
        for kind in [Kind::Read, Kind::ReadAgain] {
            assert_eq!(kind.grant(nearly, false), Some(FULL));
            assert_eq!(kind.grant(FULL, false), None);
            assert_eq!(kind.grant(FULL, true), None);
        }
        let lock = RawRwLock::new();
        lock.word.store(FULL, Ordering::Relaxed);
        assert!(!lock.try_take(Kind::Read, false) && !lock.try_take(Kind::Write, false));
        lock.give_back(READER, 0);
        assert!(lock.try_take(Kind::Read, false));
    }
}
