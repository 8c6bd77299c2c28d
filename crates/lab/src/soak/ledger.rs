//! The books: what goes in must come out.

use sateen_base::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The counts of one activity, over the whole soak.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Operations done. It rises as long as the activity makes progress.
    operations: CachePadded<AtomicU64>,
    /// Items made.
    made: CachePadded<AtomicU64>,
    /// Items destroyed.
    destroyed: CachePadded<AtomicU64>,
}

impl Ledger {
    pub(super) fn did(&self, operations: u64) {
        self.operations.fetch_add(operations, Relaxed);
    }

    pub(super) fn operations(&self) -> u64 {
        self.operations.load(Relaxed)
    }

    /// Returns the items made and the items destroyed.
    pub(super) fn items(&self) -> [u64; 2] {
        [&self.made, &self.destroyed].map(|count| count.load(Relaxed))
    }
}

/// An item that must be destroyed exactly once. It owns memory, so that destroying it twice is
/// noticed.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) value: Box<u64>,
    ledger: Arc<Ledger>,
}

/// The content of a destroyed item.
const DESTROYED: u64 = 0xDEAD_DEAD_DEAD_DEAD;

impl Item {
    pub(super) fn new(ledger: &Arc<Ledger>, value: u64) -> Self {
        ledger.made.fetch_add(1, Relaxed);
        Self { value: Box::new(value), ledger: Arc::clone(ledger) }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        assert_ne!(*self.value, DESTROYED, "an item was destroyed twice");
        *self.value = DESTROYED;
        self.ledger.destroyed.fetch_add(1, Relaxed);
        self.ledger.did(1);
    }
}
