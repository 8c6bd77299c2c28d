//! The word that joins a fiber's parking with its wake-ups.
//!
//! | word | meaning | moves |
//! |---|---|---|
//! | `RUNNING` | on the processor, no wake-up pending | `begin`: to `PARKED`; `unpark`: to `NOTIFIED` |
//! | `NOTIFIED` | a wake-up arrived; the next park returns at once, or it is on its way to resume | owner, when it goes on: to `RUNNING` |
//! | `PARKED` | off the processor, or about to be | `unpark`: to `NOTIFIED`, and exactly that caller hands the fiber to its worker |
//!
//! A park is `begin`, then, if that says so, a switch away until somebody hands the fiber back, then
//! `resumed`. A fiber is resumed by its own worker only, from its root, so "about to be parked" needs no
//! care: the worker cannot look into its inbox before the switch is over.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;

const RUNNING: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;

/// Of the exchange in [`ParkWord::unpark`]; weakened to see the model fail.
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

    /// The owner wants to park. True: it must leave the processor now, and will be handed to its worker.
    /// False: a wake-up was pending. Either way [`ParkWord::resumed`] follows.
    pub fn begin(&self) -> bool {
        // Ordering: Acquire on both outcomes pairs with the Release in `unpark`: what the waker did is
        // visible. Release on success is for `unpark`, which hands our frames to the worker.
        self.0.compare_exchange(RUNNING, PARKED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The owner goes on. A wake-up after this counts for the next park.
    pub fn resumed(&self) {
        if canary!("park_resumed_store") {
            return self.0.store(RUNNING, Ordering::Relaxed);
        }
        // Ordering: Acquire pairs with the Release in `unpark`: also of a wake-up that this overwrites.
        self.0.swap(RUNNING, Ordering::Acquire);
    }

    /// Whether the owner is off the processor, or about to be, and nobody has woken it. A hint.
    #[cfg(not(loom))]
    pub(crate) fn is_parked(&self) -> bool {
        // Ordering: Acquire pairs with `begin`: what the owner wrote before is visible.
        self.0.load(Ordering::Acquire) == PARKED
    }

    /// A wake-up, from any thread. True: the caller, and nobody else, hands the fiber to its worker.
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
