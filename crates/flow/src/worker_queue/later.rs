//! Items that are to be tried again, ordered by time.
//!
//! One of the sleeping workers keeps the time: it sleeps until the first item is due, the others
//! until they are told. A worker that stops keeping it to do other work tells another. So does a
//! worker that leaves items here for which no worker keeps the time. Protocol: the crate's
//! `README.md`, section *Coming again*.

use super::envelope::Envelope;
use crate::timekeeper::Timekeeper;
use sateen_base::SpinLock;
use sateen_base::prim::time::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The items of one crew that wait for their time.
pub(crate) struct Later<T> {
    start: Instant,
    /// When the first is due, in nanoseconds from `start`, and which worker wakes then.
    pub(crate) time: Timekeeper,
    heap: SpinLock<Heap<T>>,
}

struct Heap<T> {
    entries: BinaryHeap<Reverse<Entry<T>>>,
    /// The number of the next entry: of two for the same time the older is first.
    next: u64,
    /// No item is accepted any more.
    closed: bool,
}

struct Entry<T> {
    due: u64,
    number: u64,
    again: Again<T>,
}

/// An item, and the lane whose lock it keeps, if any.
pub(crate) struct Again<T> {
    pub(crate) envelope: Envelope<T>,
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
            time: Timekeeper::new(),
            heap: SpinLock::new(Heap { entries: BinaryHeap::new(), next: 0, closed: false }),
        }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Keeps an item until `after` from now. Returns it if this is closed.
    pub(crate) fn push(&self, again: Again<T>, after: Duration) -> Result<(), Again<T>> {
        let due = self.now().saturating_add(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX));
        let mut heap = self.heap.lock();
        if heap.closed {
            return Err(again);
        }
        let number = heap.next;
        heap.next += 1;
        // Below `NEVER`, so that an item due at the end of time still counts.
        heap.entries.push(Reverse(Entry { due: due.min(u64::MAX - 1), number, again }));
        self.note(&heap);
        Ok(())
    }

    /// An item whose time has come. One load if there is none at all.
    #[inline]
    pub(crate) fn pop(&self) -> Option<Again<T>> {
        if self.is_empty() { None } else { self.pop_slow() }
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
        self.time.earliest().is_some_and(|earliest| earliest <= self.now())
    }

    /// The instant of a time of the [`Timekeeper`]; `None` if it is too far off.
    pub(crate) fn deadline(&self, time: u64) -> Option<Instant> {
        self.start.checked_add(Duration::from_nanos(time))
    }

    /// Whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.time.earliest().is_none()
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.lock().entries.len()
    }

    /// Returns all items, in order of time, and accepts no more.
    pub(crate) fn close(&self) -> Vec<Envelope<T>> {
        let mut heap = self.heap.lock();
        heap.closed = true;
        let entries = std::mem::take(&mut heap.entries);
        self.note(&heap);
        drop(heap);
        let mut entries: Vec<_> = entries.into_iter().map(|entry| entry.0).collect();
        entries.sort();
        entries.into_iter().map(|entry| entry.again.envelope).collect()
    }

    fn note(&self, heap: &Heap<T>) {
        self.time.set_earliest(heap.entries.peek().map(|entry| entry.0.due));
    }
}
