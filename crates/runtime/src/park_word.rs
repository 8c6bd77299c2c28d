//! The word that joins a fiber's parking with its wake-ups.
//!
//! | word | meaning | moves |
//! |---|---|---|
//! | `RUNNING` | runs, no wake-up pending | `begin`: to `PARKED`; `unpark`: to `NOTIFIED` |
//! | `NOTIFIED` | a wake-up arrived: the next park returns at once | `resumed`: to `RUNNING` |
//! | `PARKED` | does not run, or is about to stop | `unpark`: to `NOTIFIED` |
//!
//! The caller of `unpark` that moves the word on from `PARKED`, exactly one, hands the fiber to its
//! worker. Until the fiber goes on, the word says `NOTIFIED`.
//!
//! A park is `begin`, then, if that returns true, a switch away until the fiber is handed back,
//! then `resumed`. Only the fiber's own worker resumes it, from the root. So "about to be parked"
//! needs no care: the worker cannot look into its inbox before the switch has ended.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;

const RUNNING: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;

/// The ordering of the exchange in [`ParkWord::unpark`]; weakened to see the model fail.
#[inline(always)]
fn unpark() -> Ordering {
    if canary!("park_unpark_relaxed") { Ordering::Relaxed } else { Ordering::AcqRel }
}

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct ParkWord(AtomicU32);

impl ParkWord {
    /// Running, nothing pending.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicU32::new(RUNNING))
    }

    /// The fiber wants to park. True: it must leave the processor now, and will be handed to its
    /// worker. False: a wake-up was pending. In both cases [`ParkWord::resumed`] follows.
    pub fn begin(&self) -> bool {
        // Ordering: Acquire on both outcomes pairs with the Release in `unpark`: what the waker did
        // is visible. Release on success is for `unpark`, which hands the fiber's frames to the
        // worker.
        self.0.compare_exchange(RUNNING, PARKED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The fiber goes on. A wake-up after this counts for the next park.
    pub fn resumed(&self) {
        if canary!("park_resumed_store") {
            return self.0.store(RUNNING, Ordering::Relaxed);
        }
        // Ordering: Acquire pairs with the Release in `unpark`: also of a wake-up that this
        // overwrites.
        self.0.swap(RUNNING, Ordering::Acquire);
    }

    /// Whether the fiber is off the processor, or about to be, and was not woken. A hint.
    #[cfg(not(loom))]
    pub(crate) fn is_parked(&self) -> bool {
        // Ordering: Acquire pairs with `begin`: what the fiber wrote before is visible.
        self.0.load(Ordering::Acquire) == PARKED
    }

    /// A wake-up, from any thread. True: the caller, and no other, hands the fiber to its worker.
    pub fn unpark(&self) -> bool {
        if canary!("park_unpark_in_two_steps") {
            let before = self.0.load(Ordering::Acquire);
            self.0.store(NOTIFIED, Ordering::Release);
            return before == PARKED;
        }
        // Ordering: AcqRel, see `begin` and `resumed`.
        self.0.swap(NOTIFIED, unpark()) == PARKED
    }
}
