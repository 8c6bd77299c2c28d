//! Producers and consumers stop between any two of their steps, for any number of laps, and owners
//! of reserved slots come late. All of this happens in one thread, in a random order. A consumer
//! finds the item that was put in at exactly its position.

use super::{Bounded, Position, ReservedSlot};
use sateen_base::XorShift;
use std::collections::HashSet;

/// The position at which an item was put in, and its number.
type Item = (u64, u32);

#[derive(Clone, Copy)]
enum Producer {
    Idle,
    /// The position whose slot it saw to be free.
    Seen(Position),
    Claimed(Position),
}

#[derive(Clone, Copy)]
enum Consumer {
    Idle,
    /// The position, and whether it saw the slot to be full; if not, it may be passed over.
    Seen(Position, bool),
    Claimed(Position),
}

struct Run {
    queue: Bounded<Item>,
    producers: [Producer; 3],
    consumers: [Consumer; 3],
    owners: [Option<ReservedSlot>; 3],
    /// Numbers of items that are in, and the next one.
    inside: HashSet<u32>,
    next: u32,
    /// Items that came out, reservations that were committed, and those that were passed over.
    counts: [usize; 3],
    random: XorShift,
}

impl Run {
    fn new(capacity: usize, seed: u64) -> Self {
        Self {
            queue: Bounded::from_lap(capacity, u64::MAX - 100),
            producers: [Producer::Idle; 3],
            consumers: [Consumer::Idle; 3],
            owners: [const { None }; 3],
            inside: HashSet::new(),
            next: 0,
            counts: [0; 3],
            random: XorShift::new(seed),
        }
    }

    fn item(&mut self, position: Position) -> Item {
        self.next += 1;
        (position.word(), self.next)
    }

    fn produce(&mut self, number: usize) {
        let queue = &self.queue;
        self.producers[number] = match self.producers[number] {
            Producer::Idle => {
                let tail = queue.position(&queue.tail);
                let free = Bounded::turn(queue.slot(tail)) == queue.shape.free(tail);
                if free { Producer::Seen(tail) } else { Producer::Idle }
            }
            Producer::Seen(tail) if queue.claim(&queue.tail, tail, queue.shape.next(tail)) => {
                Producer::Claimed(tail)
            }
            Producer::Seen(_) => Producer::Idle,
            Producer::Claimed(position) => {
                let item = self.item(position);
                self.inside.insert(item.1);
                let queue = &self.queue;
                // SAFETY: free, and claimed by this producer.
                unsafe { Bounded::fill(queue.slot(position), queue.shape.full(position), item) };
                Producer::Idle
            }
        };
    }

    fn consume(&mut self, number: usize) {
        let queue = &self.queue;
        self.consumers[number] = match self.consumers[number] {
            Consumer::Idle => {
                let head = queue.position(&queue.head);
                let full = Bounded::turn(queue.slot(head)) == queue.shape.full(head);
                Consumer::Seen(head, full)
            }
            Consumer::Seen(head, true) => {
                let claimed = queue.claim(&queue.head, head, queue.shape.next(head));
                if claimed { Consumer::Claimed(head) } else { Consumer::Idle }
            }
            Consumer::Seen(head, false) => {
                let tail = queue.position(&queue.tail);
                if queue.is_reserved(head) {
                    queue.pass_over_slow(head, tail);
                } else {
                    queue.skip_aborted(head);
                }
                Consumer::Idle
            }
            Consumer::Claimed(position) => {
                let free = queue.shape.free_after(position);
                // SAFETY: full, and claimed by this consumer.
                let (put, item) = unsafe { Bounded::empty(queue.slot(position), free) };
                assert_eq!(put, position.word());
                assert!(self.inside.remove(&item), "item {item} came out twice");
                self.counts[0] += 1;
                Consumer::Idle
            }
        };
    }

    /// Reserves a slot, or ends the reservation.
    fn reserve(&mut self, number: usize) {
        match self.owners[number].take() {
            None => {
                // Not where it would wait for a producer or a consumer that has stopped.
                let tail = self.queue.position(&self.queue.tail);
                if Bounded::turn(self.queue.slot(tail)) == self.queue.shape.free(tail) {
                    self.owners[number] = self.queue.reserve().ok();
                }
            }
            Some(reserved) if self.random.below(3) == 0 => self.queue.abort(reserved),
            Some(reserved) => {
                let position = Position::new(reserved.into_word());
                let item = self.item(position);
                // SAFETY: taken apart just now.
                let reserved = unsafe { ReservedSlot::from_word(position.word()) };
                let kept = self.queue.commit(reserved, item).is_ok();
                if kept {
                    self.inside.insert(item.1);
                }
                self.counts[if kept { 1 } else { 2 }] += 1;
            }
        }
    }

    fn go(mut self, steps: usize) {
        for _ in 0..steps {
            // The first of each kind comes often, the last one laps later.
            let (kind, rare) = (self.random.below(5), self.random.below(1024));
            let number = if rare == 0 { 2 } else { usize::from(rare < 32) };
            match kind {
                0 | 1 => self.produce(number),
                2 | 3 => self.consume(number),
                _ => self.reserve(number),
            }
        }
        for number in 0..3 {
            while !matches!(self.producers[number], Producer::Idle) {
                self.produce(number);
            }
            while !matches!(self.consumers[number], Consumer::Idle) {
                self.consume(number);
            }
            if self.owners[number].is_some() {
                self.reserve(number);
            }
        }
        while let Ok((_, item)) = self.queue.pop() {
            assert!(self.inside.remove(&item));
        }
        assert!(self.inside.is_empty(), "lost: {:?}", self.inside);
        let enough = if cfg!(miri) { 0 } else { 50 };
        assert!(self.counts.iter().all(|count| *count >= enough), "{:?}", self.counts);
    }
}

#[test]
fn each_item_comes_out_of_its_place_once() {
    for capacity in [1, 2, 3, 8] {
        for seed in 1..=if cfg!(miri) { 1 } else { 4 } {
            Run::new(capacity, seed).go(if cfg!(miri) { 300 } else { 400_000 });
        }
    }
}
