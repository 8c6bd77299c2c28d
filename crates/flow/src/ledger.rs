//! How many tokens of a shared limit have been taken: one word.
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | *n* | the tokens up to number *n* on the grid are taken, lost, or waited for | `take`, `line_up`: up; `give_back`: down |
//!
//! Tokens guard no data, so all accesses are relaxed: that each is one exchange is what counts. Model: `tests/loom_ledger.rs`.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::AtomicU64;

/// The word.
#[derive(Debug)]
pub struct Ledger(AtomicU64);

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

impl Ledger {
    /// Nothing taken.
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Takes up to `most` of the tokens after `floor` that are `due`; none if there are fewer than `least`. How many.
    pub fn take(&self, floor: u64, due: u64, least: u64, most: u64) -> u64 {
        let mut taken = self.0.load(Relaxed);
        loop {
            let base = taken.max(floor);
            let left = due.saturating_sub(base);
            if left < least {
                return 0;
            }
            let n = left.min(most);
            if cfg!(sateen_canary = "ledger_take_no_exchange") {
                self.0.store(base + n, Relaxed);
                return n;
            }
            match self.0.compare_exchange_weak(taken, base + n, Relaxed, Relaxed) {
                Ok(_) => return n,
                Err(seen) => taken = seen,
            }
        }
    }

    /// Takes `n` tokens after `floor`, due or not; the number of the last.
    pub fn line_up(&self, floor: u64, n: u64) -> u64 {
        let mut taken = self.0.load(Relaxed);
        loop {
            let last = taken.max(floor) + n;
            match self.0.compare_exchange_weak(taken, last, Relaxed, Relaxed) {
                Ok(_) => return last,
                Err(seen) => taken = seen,
            }
        }
    }

    /// Tokens that were taken and not used.
    pub fn give_back(&self, n: u64) {
        if cfg!(sateen_canary = "ledger_give_back_no_exchange") {
            let taken = self.0.load(Relaxed);
            self.0.store(taken - n, Relaxed);
            return;
        }
        self.0.fetch_sub(n, Relaxed);
    }
}
