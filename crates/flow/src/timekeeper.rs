//! Which sleeper keeps the time for items that come again.
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | `earliest` | when the first item is due, or `NEVER` | a worker that locks the items |
//! | `kept` | when the keeper's sleep ends; `NEVER` without a keeper | a sleeper |
//!
//! A sleeper lowers `kept` before it sleeps. After that it sets `NEVER`, unless another sleeper has
//! lowered `kept` further.
//!
//! Accesses are relaxed: a worker that lowers `earliest` tells a sleeper, through a fence, and
//! sleepers look again after one. Proof: the crate's `README.md`, section *Coming again*. Model:
//! `tests/loom_timekeeper.rs`.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::AtomicU64;
use sateen_sync::WaitPoint;

/// Later than any time.
const NEVER: u64 = u64::MAX;

/// The two words.
#[derive(Debug)]
pub struct Timekeeper {
    earliest: AtomicU64,
    kept: AtomicU64,
}

impl Default for Timekeeper {
    fn default() -> Self {
        Self::new()
    }
}

impl Timekeeper {
    /// No item waits.
    pub fn new() -> Self {
        Self { earliest: AtomicU64::new(NEVER), kept: AtomicU64::new(NEVER) }
    }

    /// When the first item is due.
    #[inline]
    pub fn earliest(&self) -> Option<u64> {
        Some(self.earliest.load(Relaxed)).filter(|&earliest| earliest != NEVER)
    }

    /// Sets when the first item is due. The caller has the items locked, and tells a worker after
    /// that.
    pub fn set_earliest(&self, earliest: Option<u64>) {
        self.earliest.store(earliest.unwrap_or(NEVER), Relaxed);
    }

    /// Whether an item waits for which no worker keeps the time.
    #[inline]
    pub fn needs_keeper(&self) -> bool {
        self.earliest.load(Relaxed) < self.kept.load(Relaxed)
    }

    /// Keeps the time, if a worker has to. The caller then announces that it sleeps, and looks
    /// again whether a keeper is needed.
    pub fn keep(&self) -> Option<Keeper<'_>> {
        let until = self.earliest.load(Relaxed);
        let lower = |kept| (until < kept).then_some(until);
        self.kept.fetch_update(Relaxed, Relaxed, lower).ok()?;
        Some(Keeper { kept: &self.kept, until })
    }

    /// The caller goes on to other work. If an item waits, another must keep the time.
    pub fn pass_on(&self, sleepers: &WaitPoint) {
        if self.needs_keeper() {
            sleepers.notify_one();
        }
    }
}

/// Keeps the time until it is dropped.
#[derive(Debug)]
pub struct Keeper<'a> {
    kept: &'a AtomicU64,
    until: u64,
}

impl Keeper<'_> {
    /// When the first item is due.
    pub fn until(&self) -> u64 {
        self.until
    }
}

impl Drop for Keeper<'_> {
    fn drop(&mut self) {
        // Fails if another worker has taken over, for an earlier item.
        _ = self.kept.compare_exchange(self.until, NEVER, Relaxed, Relaxed);
    }
}
