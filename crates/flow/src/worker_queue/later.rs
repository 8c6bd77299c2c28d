//! Items that are to be tried again, by when.
//!
//! Of the workers that sleep one keeps the time: it sleeps until the first is due, the others until they are told. Who
//! stops keeping it to do other work tells another; so does who leaves items here that nobody keeps the time for. Protocol: the crate's
//! `README.md`, section *Coming again*.

use super::shared::Parcel;
use sateen_base::SpinLock;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{AtomicU64, Ordering};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The items of one crew that wait for their time.
pub(crate) struct Later<T> {
    start: Instant,
    /// When the first is due, in nanoseconds from `start`; `u64::MAX` if there is none. Changed with the heap locked.
    earliest: AtomicU64,
    /// Until when a worker sleeps at most; `u64::MAX` if none keeps the time.
    kept: AtomicU64,
    heap: SpinLock<Heap<T>>,
}

struct Heap<T> {
    entries: BinaryHeap<Reverse<Entry<T>>>,
    /// Tells entries of the same time apart, first come first.
    next: u64,
    /// Nothing comes in any more.
    closed: bool,
}

struct Entry<T> {
    due: u64,
    number: u64,
    again: Again<T>,
}

/// Keeps the time for the items that come again, until it is dropped.
pub(crate) struct Keeper<'a> {
    kept: &'a AtomicU64,
    until: u64,
    /// When the first is due; none if that is never.
    pub(crate) deadline: Option<Instant>,
}

impl Drop for Keeper<'_> {
    fn drop(&mut self) {
        // Unless another has taken over, for an earlier one.
        _ = self.kept.compare_exchange(self.until, u64::MAX, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// An item, and the lane whose hold it keeps, if any.
pub(crate) struct Again<T> {
    pub(crate) parcel: Parcel<T>,
    pub(crate) held: Option<usize>,
}

impl<T> Entry<T> {
    fn key(&self) -> (u64, u64) {
        (self.due, self.number)
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<T> Eq for Entry<T> {}
impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> Later<T> {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            earliest: AtomicU64::new(u64::MAX),
            kept: AtomicU64::new(u64::MAX),
            heap: SpinLock::new(Heap { entries: BinaryHeap::new(), next: 0, closed: false }),
        }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Keeps an item until `after` from now; back at once if nothing is kept any more.
    pub(crate) fn push(&self, again: Again<T>, after: Duration) -> Result<(), Again<T>> {
        let due = self.now().saturating_add(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX));
        let mut heap = self.heap.lock();
        if heap.closed {
            return Err(again);
        }
        let number = heap.next;
        heap.next += 1;
        // So far off that it is never: but it still counts.
        heap.entries.push(Reverse(Entry { due: due.min(u64::MAX - 1), number, again }));
        self.note(&heap);
        Ok(())
    }

    /// An item whose time has come. One load if there is none at all.
    #[inline]
    pub(crate) fn pop(&self) -> Option<Again<T>> {
        if self.earliest.load(Ordering::Relaxed) == u64::MAX { None } else { self.pop_slow() }
    }

    #[cold]
    fn pop_slow(&self) -> Option<Again<T>> {
        if !self.is_due() {
            return None;
        }
        let mut heap = self.heap.lock();
        let now = self.now();
        if heap.entries.peek()?.0.due > now {
            return None;
        }
        let entry = heap.entries.pop()?.0;
        self.note(&heap);
        Some(entry.again)
    }

    /// Whether an item's time has come.
    pub(crate) fn is_due(&self) -> bool {
        let earliest = self.earliest.load(Ordering::Relaxed);
        earliest != u64::MAX && earliest <= self.now()
    }

    /// Whether something is here that nobody keeps the time for.
    pub(crate) fn needs_keeper(&self) -> bool {
        self.earliest.load(Ordering::Relaxed) < self.kept.load(Ordering::Relaxed)
    }

    /// Keeps the time, if anybody has to.
    pub(crate) fn keep(&self) -> Option<Keeper<'_>> {
        // Relaxed: a sleeper looks again, after a fence, whether one is needed.
        let until = self.earliest.load(Ordering::Relaxed);
        let new = until < self.kept.fetch_min(until, Ordering::Relaxed);
        new.then(|| Keeper {
            kept: &self.kept,
            until,
            deadline: self.start.checked_add(Duration::from_nanos(until)),
        })
    }

    /// Whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.earliest.load(Ordering::Relaxed) == u64::MAX
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.lock().entries.len()
    }

    /// Gives everything out, in order of time, and takes nothing more in.
    pub(crate) fn close(&self) -> Vec<Parcel<T>> {
        let mut heap = self.heap.lock();
        heap.closed = true;
        let entries = std::mem::take(&mut heap.entries);
        self.note(&heap);
        drop(heap);
        let mut entries: Vec<_> = entries.into_iter().map(|entry| entry.0).collect();
        entries.sort();
        entries.into_iter().map(|entry| entry.again.parcel).collect()
    }

    fn note(&self, heap: &Heap<T>) {
        let earliest = heap.entries.peek().map_or(u64::MAX, |entry| entry.0.due);
        // Relaxed: who pushes tells the sleepers after it, through a fence.
        self.earliest.store(earliest, Ordering::Relaxed);
    }
}
