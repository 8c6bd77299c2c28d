//! Producers and consumers that stop between any two of their steps while segments come and go: all
//! in one thread, in a random order. What is read from a slot is what was put into it.

use super::{Claim, Share, Unbounded};
use crate::trace::Traced;
use sateen_base::XorShift;
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

/// So large that a segment has three slots.
type Item = [u32; 200];
/// What a slot holds; 0 while its producer is on its way.
type Put = Rc<Cell<u32>>;

/// A claim, how many of its slots are done, and what they hold.
type Part = Option<(Claim<Item>, usize, Vec<Put>)>;

struct Run {
    queue: Unbounded<Item>,
    producers: [Part; 3],
    consumers: [Part; 3],
    /// Of the slots that producers have claimed and consumers have not.
    between: VecDeque<Put>,
    next: u32,
    random: XorShift,
}

impl Run {
    fn produce(&mut self, number: usize) {
        self.producers[number] = match self.producers[number].take() {
            None => {
                let most = 1 + self.random.below(5);
                let claim = self.queue.claim_back(most, None).expect("never closed");
                let puts: Vec<Put> = (0..claim.slots).map(|_| Put::default()).collect();
                self.between.extend(puts.iter().cloned());
                Some((claim, 0, puts))
            }
            Some((claim, done, puts)) => {
                self.next += 1;
                puts[done].set(self.next);
                // SAFETY: a slot of the claim, filled once.
                unsafe { claim.segment.write(claim.offset + done, [self.next; 200], Traced::NO) };
                (done + 1 < claim.slots).then_some((claim, done + 1, puts))
            }
        };
    }

    fn consume(&mut self, number: usize) {
        self.consumers[number] = match self.consumers[number].take() {
            None => {
                let most = 1 + self.random.below(5);
                let share = if self.random.below(2) == 0 { Share::All } else { Share::Half };
                let claim = self.queue.claim_front(most, share, None).ok();
                assert_eq!(claim.is_none(), self.between.is_empty());
                claim.map(|claim| {
                    let puts = self.between.drain(..claim.slots).collect();
                    (claim, 0, puts)
                })
            }
            // Its producer is on its way: it would wait.
            Some(part) if part.2[part.1].get() == 0 => Some(part),
            Some((claim, done, puts)) => {
                let offset = claim.offset + done;
                // SAFETY: a slot of the claim, which keeps the segment live.
                let full = unsafe { claim.segment.is_full(offset) };
                assert!(full, "a slot was used again under its reader");
                // SAFETY: as above, and read once.
                let item = unsafe { claim.segment.read(offset, Traced::NO) };
                assert_eq!(item, [puts[done].get(); 200]);
                if done + 1 < claim.slots {
                    Some((claim, done + 1, puts))
                } else {
                    self.queue.leave(claim.segment, claim.last);
                    None
                }
            }
        };
    }

    fn go(mut self, steps: usize) {
        let mut target = 0;
        for step in 0..steps {
            if step % 100 == 0 {
                target = [0, 2, 10, 40][self.random.below(4)];
            }
            // The first of each kind comes often, the last one segments later.
            let rare = self.random.below(128);
            let number = if rare == 0 { 2 } else { usize::from(rare < 16) };
            if self.between.len() < target || self.random.below(3) == 0 {
                self.produce(number);
            } else {
                self.consume(number);
            }
            assert_eq!(self.queue.len(), self.between.len());
        }
        for number in 0..3 {
            while self.producers[number].is_some() {
                self.produce(number);
            }
        }
        for number in 0..3 {
            while self.consumers[number].is_some() {
                self.consume(number);
            }
        }
    }
}

#[test]
fn each_item_comes_out_of_its_slot() {
    for seed in 1..=if cfg!(miri) { 1 } else { 4 } {
        let queues = [Unbounded::new(), Unbounded::starting_at((1 << 63) - 40)];
        for queue in queues {
            let run = Run {
                queue,
                producers: [const { None }; 3],
                consumers: [const { None }; 3],
                between: VecDeque::new(),
                next: 0,
                random: XorShift::new(seed),
            };
            run.go(if cfg!(miri) { 60 } else { 100_000 });
        }
    }
}
