//! The park word: the state that a fiber's parking and its wake-ups share.
//!
//! The word counts wake-ups. The fiber remembers the count that it has *seen*:
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | as seen | runs, no wake-up pending | `begin`: to `PARKED`; `unpark`: up by one |
//! | other, not `PARKED` | the next park returns at once | `unpark`: up by one; `resumed`: seen |
//! | `PARKED` | does not run, or is about to stop | `unpark`: up by one |
//!
//! Exactly one caller of `unpark` finds the word `PARKED`, and hands the fiber to its worker. From
//! then on the word is above `PARKED`, and counts up from there until the next park. It cannot wrap
//! in 63 bits, so it never equals `PARKED` or the seen count by chance.
//!
//! A park calls `begin`. If that returns true, it switches away until the fiber is handed back.
//! Then it calls `resumed`. Only the fiber's own worker resumes it, from the root. So a fiber that
//! is still switching away needs no special case: the worker cannot read its inbox before the
//! switch has ended.
//!
//! `resumed` only loads the word. A wake-up after the load makes the next `begin` fail. A wake-up
//! before it is seen, with everything that its waker did.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicU64;
use sateen_base::prim::{AtomicU64 as Plain, Ordering};

const PARKED: u64 = 1 << 63;

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct ParkWord {
    word: AtomicU64,
    /// The word at the last resumption. For the fiber only.
    seen: Plain,
}

impl ParkWord {
    /// Starts as running, with nothing pending.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { word: AtomicU64::new(0), seen: Plain::new(0) }
    }

    /// Begins to park. Returns true if the fiber must switch away now; it will be handed to its
    /// worker. Returns false if a wake-up was pending. In both cases [`ParkWord::resumed`] follows.
    #[inline]
    pub fn begin(&self) -> bool {
        // Ordering: Relaxed; the fiber's own.
        let seen = self.seen.load(Ordering::Relaxed);
        // Ordering: Release on success publishes the fiber's frames to `unpark`, which hands them
        // to the worker. Acquire is not needed: on success `resumed` has already seen the word, and
        // on failure it follows.
        self.word.compare_exchange(seen, PARKED, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// The fiber resumes. A later wake-up counts for the next park.
    #[inline]
    pub fn resumed(&self) {
        // Ordering: Acquire pairs with the Release in each `unpark` counted so far, so what those
        // wakers did is visible. The word's additions form one release sequence.
        self.seen.store(self.word.load(Ordering::Acquire), Ordering::Relaxed);
    }

    /// Whether the fiber does not run, or is about to stop, and was not woken. A hint.
    #[cfg(not(loom))]
    pub(crate) fn is_parked(&self) -> bool {
        // Ordering: Acquire pairs with `begin`: what the fiber wrote before is visible.
        self.word.load(Ordering::Acquire) == PARKED
    }

    /// Wakes the fiber; any thread may call this. If it returns true, the caller alone must hand
    /// the fiber to its worker.
    #[inline]
    pub fn unpark(&self) -> bool {
        // Ordering: AcqRel, see `begin` and `resumed`.
        self.word.fetch_add(1, Ordering::AcqRel) == PARKED
    }
}
