//! How workers that end find out that nothing is left to do.
//!
//! One word of two parts. There are fewer than 2^16 workers, and no look lasts for 2^48 wake-ups:
//!
//! | bits | counts | changed by |
//! |---|---|---|
//! | low 16 | workers that are drained: idle, without suspended fibers | `drain`, `absent`: up; `undrain`: down |
//! | high 48 | the epoch: how often one of them went back to work | `undrain` |
//!
//! The last to drain looks at all queues; if they are empty and the word is then still what its own
//! exchange made it, nobody has worked since. Proof: `README.md`, "Ending".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::canary;
use sateen_base::prim::searched::AtomicU64;
use sateen_base::prim::{Ordering, fence};

const ONE: u64 = 1;
const EPOCH: u64 = 1 << 16;
/// What [`DrainCount::undrain`] adds to the epoch; left out to see the model fail.
#[inline(always)]
fn worked() -> u64 {
    if canary!("drain_no_epoch") { 0 } else { EPOCH }
}

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct DrainCount(AtomicU64);

impl DrainCount {
    /// Nobody is drained.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// One of `workers` is drained. True: all are, `has_work` found no queue with anything in it
    /// (and no pending future), and nothing will ever come. False: [`DrainCount::undrain`] must
    /// follow before the worker takes work again.
    pub fn drain(&self, workers: usize, has_work: impl FnOnce() -> bool) -> bool {
        // Ordering: AcqRel: the last worker sees everything the others pushed before they drained.
        let word = self.0.fetch_add(ONE, Ordering::AcqRel) + ONE;
        // Everyone is idle and nothing comes from outside. If nothing is queued either, and nobody
        // has woken while we looked, then nothing can happen any more.
        (word % EPOCH) as usize == workers && !has_work() && {
            // Keeps the look above before the check; partner: the fence in `undrain`.
            if !canary!("drain_check_no_fence") {
                fence(Ordering::SeqCst);
            }
            canary!("drain_no_check") || self.0.load(Ordering::Acquire) == word
        }
    }

    /// The worker goes back to work.
    pub fn undrain(&self) {
        // Ordering: Relaxed. What was done before earlier drains the exchange passes on, since then
        // the worker has done nothing, and what it does from now on its next drain releases.
        self.0.fetch_add(worked().wrapping_sub(ONE), Ordering::Relaxed);
        if !canary!("drain_undrain_no_fence") {
            // Comes before the worker takes anything, by however weak a store, so that whoever
            // misses what was taken sees the epoch. Partner: the fence in `drain`.
            fence(Ordering::SeqCst);
        }
    }

    /// A worker that will never run counts as drained for good. Whoever drained before has to be
    /// woken and count again.
    pub fn absent(&self) {
        // Ordering: AcqRel as in `drain`.
        self.0.fetch_add(ONE, Ordering::AcqRel);
    }
}
