//! A ring of trace events: one thread writes, the oldest events are overwritten, and any thread
//! copies them while the writer continues.
//!
//! | field | changed by |
//! |---|---|
//! | `end`: the number of events ever written | the writer, after the event's words |
//! | slot `n % capacity`: the words of event `n` | the writer, while `end` is `n` |
//!
//! A copy reads the events below `end`, then reads `end` again. Event `n` is overwritten by event
//! `n + capacity`, whose words the writer stores only while `end` is at least that. So:
//!
//! 1. Say the copy has read a word of event `n + capacity` in place of one of event `n`. Then the
//!    writer's fence came before that store, and the reader's fence came after that load.
//! 2. So the second read of `end` returns `n + capacity` or more.
//! 3. The reader keeps event `n` only if the second read returns less. So each event that it keeps
//!    is consistent.
//!
//! `end` has 64 bits and does not wrap around. Model: `loom_trace_ring.rs`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicU64;
use sateen_base::prim::{Ordering, fence};

/// Words of an event.
pub const WORDS: usize = 4;

/// See the [module's documentation](self).
pub struct Ring {
    end: AtomicU64,
    slots: Box<[[AtomicU64; WORDS]]>,
}

/// The result of [`Ring::copy`].
#[derive(Debug, Default)]
pub struct Copied {
    /// The number of the first of `events`.
    pub first: u64,
    /// In order, without a gap.
    pub events: Vec<[u64; WORDS]>,
}

impl Ring {
    /// Creates a ring for `events` events, rounded up to a power of two.
    pub fn new(events: usize) -> Self {
        let zero = |_| [(); WORDS].map(|()| AtomicU64::new(0));
        let slots = (0..events.next_power_of_two()).map(zero).collect();
        Self { end: AtomicU64::new(0), slots }
    }

    /// The most events that it holds.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The number of events written so far, including overwritten ones.
    pub fn written(&self) -> u64 {
        // Ordering: Relaxed, a statistic.
        self.end.load(Ordering::Relaxed)
    }

    /// Writes an event. The writer only.
    #[inline(always)]
    pub fn write(&self, event: [u64; WORDS]) {
        // Ordering: Relaxed; one writer.
        let end = self.end.load(Ordering::Relaxed);
        // Ordering: Release; a thread that reads one of the stores below finds at least `end` after
        // its own fence in `copy`.
        fence(Ordering::Release);
        let slot = &self.slots[end as usize & (self.slots.len() - 1)];
        for (word, value) in slot.iter().zip(event) {
            // Ordering: Relaxed, see the fence.
            word.store(value, Ordering::Relaxed);
        }
        // Ordering: Release pairs with the Acquire in `copy`, which makes the words visible.
        self.end.store(end + 1, Ordering::Release);
    }

    /// Copies the events from number `from` on, without those that are overwritten meanwhile. Any
    /// thread may call this.
    pub fn copy(&self, from: u64) -> Copied {
        let capacity = self.slots.len() as u64;
        // Ordering: Acquire pairs with the Release in `write`.
        let end = self.end.load(Ordering::Acquire);
        let first = end.saturating_sub(capacity).max(from);
        let read = |number: u64| {
            let slot = &self.slots[number as usize & (self.slots.len() - 1)];
            // Ordering: Relaxed; the fence below tells which of these are consistent.
            [0, 1, 2, 3].map(|word| slot[word].load(Ordering::Relaxed))
        };
        let mut events: Vec<_> = (first..end).map(read).collect();
        // Ordering: Acquire; see `write`.
        fence(Ordering::Acquire);
        let now = self.end.load(Ordering::Relaxed);
        // Event `now` may be in progress, over the event one capacity before it.
        let whole = (now + 1).saturating_sub(capacity).max(first);
        let gone = usize::try_from(whole - first).unwrap_or(usize::MAX).min(events.len());
        events.drain(..gone);
        Copied { first: whole, events }
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("capacity", &self.capacity())
            .field("written", &self.written())
            .finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use sateen_base::prim::{AtomicBool, thread};
    use std::collections::VecDeque;

    fn event(number: u64) -> [u64; WORDS] {
        [number, number ^ 1, number ^ 2, number ^ 3]
    }

    #[test]
    fn it_keeps_what_a_twin_keeps() {
        for capacity in [1, 2, 8] {
            let (ring, mut twin) = (Ring::new(capacity), VecDeque::new());
            for number in 0..50 {
                let copied = ring.copy(0);
                // One less than the twin: the slot that the next event takes.
                let kept = twin.len().saturating_sub(usize::from(twin.len() == capacity));
                let last: Vec<_> = twin.iter().skip(twin.len() - kept).copied().collect();
                assert_eq!(copied.events, last);
                assert_eq!(copied.first + kept as u64, number);
                ring.write(event(number));
                twin.push_back(event(number));
                twin.truncate(50);
                if twin.len() > capacity {
                    twin.pop_front();
                }
            }
            assert_eq!(ring.written(), 50);
        }
    }

    #[test]
    fn events_before_the_start_are_left_out() {
        let ring = Ring::new(8);
        (0..6).for_each(|number| ring.write(event(number)));
        let copied = ring.copy(4);
        assert_eq!((copied.first, copied.events), (4, vec![event(4), event(5)]));
        let copied = ring.copy(7);
        assert_eq!((copied.first, copied.events.len()), (7, 0));
    }

    #[test]
    fn copies_are_whole_while_the_writer_goes_on() {
        let (ring, over) = (Ring::new(64), AtomicBool::new(false));
        thread::scope(|s| {
            let copier = || {
                let mut looks = 0;
                while looks < 2 || !over.load(Ordering::Relaxed) {
                    let copied = ring.copy(0);
                    for (number, found) in (copied.first..).zip(copied.events) {
                        assert_eq!(found, event(number));
                    }
                    looks += 1;
                }
            };
            s.spawn(copier);
            s.spawn(copier);
            (0..300_000).for_each(|number| ring.write(event(number)));
            over.store(true, Ordering::Relaxed);
        });
    }
}
