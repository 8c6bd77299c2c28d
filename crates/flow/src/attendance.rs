//! What a thread that closes a worker queue learns of the workers: which call each is in, and when
//! all have left.
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | `begun`, `ended` | calls of one worker that have begun, that have ended | that worker: +1 |
//! | `count` | workers that have not left | each worker once, when it leaves: -1 |
//!
//! Proof: the crate's `README.md`, section *Ending*. Model: `tests/loom_attendance.rs`.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::Ordering::{AcqRel, Acquire, Relaxed, Release};
use sateen_base::prim::searched::{AtomicU64, AtomicUsize};

/// The calls of one worker, written by it alone.
#[derive(Debug)]
pub struct Calls {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Default for Calls {
    fn default() -> Self {
        Self::new()
    }
}

impl Calls {
    /// None yet.
    pub fn new() -> Self {
        Self { begun: AtomicU64::new(0), ended: AtomicU64::new(0) }
    }

    /// A call begins.
    #[inline(always)]
    pub fn begin(&self) {
        self.begun.store(self.begun.load(Relaxed) + 1, Relaxed);
    }

    /// It has ended.
    #[inline(always)]
    pub fn end(&self) {
        // Ordering: Release pairs with the Acquire in `ended`: a thread that sees the end sees the
        // beginning.
        self.ended.store(self.ended.load(Relaxed) + 1, Release);
    }

    /// How many have begun.
    pub fn begun(&self) -> u64 {
        self.begun.load(Relaxed)
    }

    /// How many have ended. Their beginnings are visible then.
    #[inline]
    pub fn ended(&self) -> u64 {
        // Ordering: Acquire pairs with the Release in `end`; otherwise a call might seem to run
        // that has not begun.
        self.ended.load(Acquire)
    }

    /// The number of the call that runs, if one does, counted from 1.
    pub fn running(&self) -> Option<u64> {
        // The end first: a beginning after it only adds to the difference.
        let ended = self.ended();
        let begun = self.begun();
        (begun != ended).then_some(begun)
    }

    /// Whether the call still runs that [`running`](Self::running) returned as `before`.
    pub fn still_runs(&self, before: Option<u64>) -> bool {
        before.is_some() && self.running() == before
    }
}

/// How many workers have not left yet.
#[derive(Debug)]
pub struct LiveWorkers {
    count: AtomicUsize,
}

impl LiveWorkers {
    /// Starts with this many workers.
    pub fn new(workers: usize) -> Self {
        Self { count: AtomicUsize::new(workers) }
    }

    /// A worker leaves. Returns whether it is the last one, which sees what the others did.
    pub fn leave(&self) -> bool {
        // Ordering: Release for what this worker did, Acquire for the last one, which tells waiting
        // threads.
        self.count.fetch_sub(1, AcqRel) == 1
    }
}
