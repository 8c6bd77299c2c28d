//! The wake word of a spawned future: whether it is queued, polled or idle, and how many references
//! can wake it.
//!
//! | bits | set by | meaning while set |
//! |---|---|---|
//! | `SCHEDULED` 1 | a wake-up | an entry is queued, with `RUNNING` after this poll |
//! | `RUNNING` 2 | the taker of the entry | the future is being polled, and the poller owns it |
//! | `DONE` 4 | the end | the future is gone, its result delivered; `SCHEDULED` means nothing |
//! | the rest | | counts the references that can wake it: its wakers and its handle |
//!
//! | state | the future's owner | changed by |
//! |---|---|---|
//! | idle, count above 0 | none | a wake-up or the end of the last reference: queued |
//! | queued | the entry | its taker: polled |
//! | polled | the poller | its verdict: done, queued again, idle, or (idle with count 0) dropped |
//! | done | none | the end of the last reference: freed |
//!
//! So there is at most one entry, and an entry or a poll keeps the frame alive. A future that
//! nothing can wake any more is dropped, not leaked. Proof: `README.md`, "Futures".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU64;

const SCHEDULED: u64 = 1;
const RUNNING: u64 = 2;
const DONE: u64 = 4;
const REFERENCE: u64 = 8;

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct WakeWord(AtomicU64);

/// What the poller of a pending future must do.
#[derive(Debug, PartialEq, Eq)]
pub enum Paused {
    /// Nothing: the future is idle, and the poller no longer owns it.
    Idle,
    /// Queue the future: it was woken meanwhile.
    Again,
    /// Drop the future, which the poller still owns: nothing can wake it.
    Abandoned,
}

/// What a reference that could have woken the future must do when it is dropped.
#[derive(Debug, PartialEq, Eq)]
pub enum Released {
    /// Nothing.
    Kept,
    /// Queue the future, so that it is dropped: nothing else can wake it.
    Abandoned,
    /// Free the frame.
    Free,
}

impl WakeWord {
    /// A future in a queue, with a handle.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicU64::new(SCHEDULED | REFERENCE))
    }

    /// Requests a poll. Returns whether the caller must queue the future.
    pub fn wake(&self) -> bool {
        // Ordering: Release publishes the waker's writes to the next poll, through `begin` or
        // `pause`. Acquire pairs with `begin`: a canceller finds the fiber of a poll that has
        // begun.
        self.0.fetch_or(SCHEDULED, Ordering::AcqRel) & (SCHEDULED | RUNNING | DONE) == 0
    }

    /// Adds a reference that can wake the future.
    pub fn retain(&self) {
        // Ordering: Relaxed; it is created from an existing one.
        self.0.fetch_add(REFERENCE, Ordering::Relaxed);
    }

    /// Drops a reference that can wake the future.
    pub fn release(&self) -> Released {
        // Ordering: the first load is Relaxed; the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let last_and_idle = word < 2 * REFERENCE && word & (SCHEDULED | RUNNING | DONE) == 0;
            // In one step: another thread that queued the future in between might also have it
            // freed.
            let next = if last_and_idle { SCHEDULED } else { word - REFERENCE };
            // Ordering: AcqRel, as with any reference count.
            match self.0.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if last_and_idle => return Released::Abandoned,
                Ok(_) if next < REFERENCE && next & DONE != 0 => return Released::Free,
                Ok(_) => return Released::Kept,
                Err(now) => word = now,
            }
        }
    }

    /// The taker of the entry begins to poll.
    pub fn begin(&self) {
        // Ordering: Acquire pairs with `wake`, and with `pause` of the poll before; Release
        // publishes the poller to cancellers.
        self.0.fetch_add(RUNNING - SCHEDULED, Ordering::AcqRel);
    }

    /// The poll has returned, and the future is pending.
    pub fn pause(&self) -> Paused {
        // Ordering: the first load is Relaxed; the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if word < REFERENCE && word & SCHEDULED == 0 {
                return Paused::Abandoned;
            }
            let next = word - RUNNING;
            // Ordering: Release publishes the future to the next `begin`; Acquire pairs with
            // `wake`.
            match self.0.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if next & SCHEDULED != 0 => return Paused::Again,
                Ok(_) => return Paused::Idle,
                Err(now) => word = now,
            }
        }
    }

    /// The future is gone, and its result delivered. Returns whether the caller must free the
    /// frame.
    pub fn finish(&self) -> bool {
        // Ordering: AcqRel, as with any reference count.
        self.0.fetch_add(DONE - RUNNING, Ordering::AcqRel) < REFERENCE
    }
}
