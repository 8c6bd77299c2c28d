//! How workers that end find out that nothing is left to do.
//!
//! One word of two parts. At most 2^16 threads are counted: 65,535 workers and the monitor. No look
//! lasts for 2^44 wake-ups.
//!
//! | bits | counts | changed by |
//! |---|---|---|
//! | low 20 | drained: idle, without suspended fibers | up: `drain`, `absent`; down: `undrain` |
//! | high 44 | the epoch: how often one of them went back to work | `undrain` |
//!
//! The last worker to drain looks at all queues. If they are empty and the word is then still what
//! its own exchange made it, no worker has run since. Proof: `README.md`, "Ending".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicU64;
use sateen_base::prim::{Ordering, fence};

const ONE: u64 = 1;
const EPOCH: u64 = 1 << 20;
#[cfg(not(loom))]
const _: () = assert!((crate::MAX_WORKERS as u64) < EPOCH - 1);

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct DrainCount(AtomicU64);

impl DrainCount {
    /// No worker is drained.
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
        // All are idle and nothing comes from outside. If nothing is queued either, and no worker
        // has woken during the look, nothing can happen any more.
        (word % EPOCH) as usize == workers && !has_work() && {
            // Keeps the look above before the check; partner: the fence in `undrain`.
            fence(Ordering::SeqCst);
            self.0.load(Ordering::Acquire) == word
        }
    }

    /// The worker goes back to work.
    pub fn undrain(&self) {
        // Ordering: Relaxed. The exchange passes on what was done before earlier drains. Since its
        // own drain the worker has done nothing, and its next drain releases what it does from now
        // on.
        self.0.fetch_add(EPOCH - ONE, Ordering::Relaxed);
        // Comes before the worker takes anything, by however weak a store. So a thread that
        // misses what was taken sees the epoch. Partner: the fence in `drain`.
        fence(Ordering::SeqCst);
    }

    /// A worker that will never run counts as drained for good. Workers that drained before have to
    /// be woken and count again.
    pub fn absent(&self) {
        // Ordering: AcqRel as in `drain`.
        self.0.fetch_add(ONE, Ordering::AcqRel);
    }
}
