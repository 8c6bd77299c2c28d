//! What one worker counts, for others to read.
//!
//! Only the worker stores its counts, in a cache line of its own; any thread reads them.

#[cfg(feature = "wait_times")]
use super::wait_times::WaitRecorder;
use crate::attendance::Calls;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicU64, Ordering::Relaxed};
use sateen_base::{CachePadded, SpinLock, tsc};
use std::sync::OnceLock;

/// Parts of a second for which received items are counted, for the rate.
const PARTS: u64 = 8;
/// Parts that are kept: a second, and the one that is being written.
const KEPT: usize = 16;

#[derive(Debug)]
pub(crate) struct WorkerMetrics {
    /// The worker's handler calls, however they end.
    pub(crate) calls: Calls,
    panicked: AtomicU64,
    retried: AtomicU64,
    /// The number of the worker's context, once it runs.
    pub(crate) context: AtomicU64,
    /// Handler calls that ended in each part of a second: the part's number above 32 bits, the
    /// count below.
    recent: CachePadded<[AtomicU64; KEPT]>,
    #[cfg(feature = "wait_times")]
    pub(super) waits: WaitRecorder,
    /// The description of the item that its handler works on.
    item: SpinLock<Option<String>>,
}

/// How a handler call ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Done,
    Panicked,
    Retried,
}

/// Adds one to a count that only the caller writes.
#[inline(always)]
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

impl WorkerMetrics {
    pub(crate) fn new() -> Self {
        Self {
            calls: Calls::new(),
            panicked: AtomicU64::new(0),
            retried: AtomicU64::new(0),
            context: AtomicU64::new(0),
            recent: CachePadded::new(Default::default()),
            #[cfg(feature = "wait_times")]
            waits: WaitRecorder::default(),
            item: SpinLock::new(None),
        }
    }

    // ---- For the worker ----

    #[inline(always)]
    pub(crate) fn begin(&self) {
        self.calls.begin();
    }

    #[inline(always)]
    pub(crate) fn end(&self, how: Ended) {
        match how {
            Ended::Done => {}
            Ended::Panicked => count(&self.panicked),
            Ended::Retried => count(&self.retried),
        }
        self.calls.end();
    }

    pub(crate) fn describe(&self, item: Option<String>) {
        let before = std::mem::replace(&mut *self.item.lock(), item);
        drop(before);
    }

    /// An item has waited for this many ticks.
    #[cold]
    pub(crate) fn waited(&self, ticks: u64) {
        #[cfg(feature = "wait_times")]
        self.waits.record(ticks);
        #[cfg(not(feature = "wait_times"))]
        let _ = ticks;
    }

    /// `calls` have ended since the last time.
    pub(crate) fn note(&self, calls: u64) {
        let part = part_now();
        let slot = &self.recent[part as usize % KEPT];
        let seen = slot.load(Relaxed);
        let before = if seen >> 32 == part & 0xFFFF_FFFF { seen & 0xFFFF_FFFF } else { 0 };
        slot.store((part << 32) | (before + calls).min(0xFFFF_FFFF), Relaxed);
    }

    // ---- For any thread ----

    pub(crate) fn begun(&self) -> u64 {
        self.calls.begun()
    }

    /// Whether a handler runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.calls.running().is_some()
    }

    pub(crate) fn ended(&self) -> u64 {
        self.calls.ended()
    }

    pub(crate) fn panicked(&self) -> u64 {
        self.panicked.load(Relaxed)
    }

    pub(crate) fn retried(&self) -> u64 {
        self.retried.load(Relaxed)
    }

    pub(crate) fn item(&self) -> Option<String> {
        self.item.lock().clone()
    }

    /// Handler calls that ended in the last whole second, to an eighth of a second.
    pub(crate) fn last_second(&self) -> u64 {
        let now = part_now();
        let counted = |slot: &AtomicU64| {
            let seen = slot.load(Relaxed);
            let age = (now & 0xFFFF_FFFF).wrapping_sub(seen >> 32) & 0xFFFF_FFFF;
            if (1..=PARTS).contains(&age) { seen & 0xFFFF_FFFF } else { 0 }
        };
        self.recent.iter().map(counted).sum()
    }
}

/// The number of the eighth of a second that it is, from some start.
fn part_now() -> u64 {
    static LENGTH: OnceLock<u64> = OnceLock::new();
    let length = LENGTH.get_or_init(|| tsc::ticks(Duration::from_millis(1000 / PARTS)).max(1));
    tsc::now() / length
}
