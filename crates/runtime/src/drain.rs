//! Detects that no work is left, so that a runtime can stop.
//!
//! One word has two parts. At most 2^16 threads are counted: 65,535 workers and the monitor. No
//! check lasts for 2^44 wake-ups.
//!
//! | bits | counts | changed by |
//! |---|---|---|
//! | low 20 | drained: idle, without suspended fibers | up: `drain`, `absent`; down: `undrain` |
//! | high 44 | the epoch: how often a drained worker went back to work | `undrain` |
//!
//! The last worker to drain checks all queues. If they are empty and the word still has the value
//! of its own exchange, no worker has run in between. Proof: `README.md`, "Ending".

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
    /// Starts with no worker drained.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Counts the calling worker, one of `workers`, as drained. Returns true if all are drained,
    /// `has_work` found no queued work and no pending future, and no work can arrive any more. If
    /// it returns false, [`DrainCount::undrain`] must follow before the worker takes work again.
    pub fn drain(&self, workers: usize, has_work: impl FnOnce() -> bool) -> bool {
        // Ordering: AcqRel: the last worker sees everything that the others pushed before they
        // drained.
        let word = self.0.fetch_add(ONE, Ordering::AcqRel) + ONE;
        // All workers are idle and nothing arrives from outside. If nothing is queued either, and
        // no worker woke during the check, nothing can happen any more.
        (word % EPOCH) as usize == workers && !has_work() && {
            // Orders the check above before the load below; partner: the fence in `undrain`.
            fence(Ordering::SeqCst);
            self.0.load(Ordering::Acquire) == word
        }
    }

    /// The worker goes back to work.
    pub fn undrain(&self) {
        // Ordering: Relaxed. The exchange passes on the writes before earlier drains. The worker
        // has done nothing since its own drain, and its next drain releases what it does from now
        // on.
        self.0.fetch_add(EPOCH - ONE, Ordering::Relaxed);
        // Orders the epoch before whatever the worker takes next. So a thread that misses what was
        // taken sees the epoch. Partner: the fence in `drain`.
        fence(Ordering::SeqCst);
    }

    /// Counts a worker that will never run as drained for good. Workers that drained before must be
    /// woken to count themselves again.
    pub fn absent(&self) {
        // Ordering: AcqRel as in `drain`.
        self.0.fetch_add(ONE, Ordering::AcqRel);
    }
}
