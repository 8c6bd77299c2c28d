//! The word that joins a fiber's parking with its wake-ups.
//!
//! The word counts wake-ups. The fiber remembers the count that it has *seen*:
//!
//! | word | meaning | moves |
//! |---|---|---|
//! | as seen | runs, no wake-up pending | `begin`: to `PARKED`; `unpark`: up by one |
//! | other, not `PARKED` | the next park returns at once | `unpark`: up by one; `resumed`: seen |
//! | `PARKED` | does not run, or is about to stop | `unpark`: up by one |
//!
//! The caller of `unpark` that moves the word on from `PARKED`, exactly one, hands the fiber to its
//! worker. Until the fiber goes on, the word is above `PARKED`. There it counts on until the next
//! park. No 63 bits of wake-ups come in between, so it is neither `PARKED` nor as seen by chance.
//!
//! A park is `begin`, then, if that returns true, a switch away until the fiber is handed back,
//! then `resumed`. Only the fiber's own worker resumes it, from the root. So "about to be parked"
//! needs no care: the worker cannot look into its inbox before the switch has ended.
//!
//! `resumed` is a load. Nothing is taken out of the word, so a wake-up that comes after the load
//! makes the next `begin` fail, and one that came before it is seen with all that its waker did.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicU64;
use sateen_base::prim::{AtomicU64 as Plain, Ordering};

const PARKED: u64 = 1 << 63;

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct ParkWord {
    word: AtomicU64,
    /// The word when the fiber went on last. The fiber's alone.
    seen: Plain,
}

impl ParkWord {
    /// Running, nothing pending.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { word: AtomicU64::new(0), seen: Plain::new(0) }
    }

    /// The fiber wants to park. True: it must leave the processor now, and will be handed to its
    /// worker. False: a wake-up was pending. In both cases [`ParkWord::resumed`] follows.
    #[inline]
    pub fn begin(&self) -> bool {
        // Ordering: Relaxed; the fiber's own.
        let seen = self.seen.load(Ordering::Relaxed);
        // Ordering: Release on success is for `unpark`, which hands the fiber's frames to the
        // worker. Nothing has to be acquired: on success `resumed` has seen the word, and on
        // failure it follows.
        self.word.compare_exchange(seen, PARKED, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// The fiber goes on. A wake-up after this counts for the next park.
    #[inline]
    pub fn resumed(&self) {
        // Ordering: Acquire pairs with the Release in each `unpark` that has counted: what those
        // wakers did is visible. The word's additions are one release sequence.
        self.seen.store(self.word.load(Ordering::Acquire), Ordering::Relaxed);
    }

    /// Whether the fiber is off the processor, or about to be, and was not woken. A hint.
    #[cfg(not(loom))]
    pub(crate) fn is_parked(&self) -> bool {
        // Ordering: Acquire pairs with `begin`: what the fiber wrote before is visible.
        self.word.load(Ordering::Acquire) == PARKED
    }

    /// A wake-up, from any thread. True: the caller, and no other, hands the fiber to its worker.
    #[inline]
    pub fn unpark(&self) -> bool {
        // Ordering: AcqRel, see `begin` and `resumed`.
        self.word.fetch_add(1, Ordering::AcqRel) == PARKED
    }
}
