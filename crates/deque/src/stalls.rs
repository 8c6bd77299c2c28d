//! Thieves stop between any two of their steps, for any number of laps, beside an owner that goes
//! on. All of this happens in one thread, in a random order. A thief takes the item that lay there
//! when it claimed it.

use crate::index::Top;
use crate::inner::Claim;
use crate::worker::Worker;
use crate::{Asymmetric, Cached, Padded, Plain, Stage, Steal};
use sateen_base::XorShift;
use std::collections::VecDeque;

/// So large that the smallest buffer has 16 cells; a torn or foreign item shows.
type Item = [u32; 20];

/// A thief, and how far it has come.
enum Thief {
    Idle,
    Looked(Top, u32),
    /// Its claim, how many of it are taken, and the items that it must find.
    Claimed(Claim<Item>, u32, Vec<u32>),
}

struct Run<S: Stage> {
    worker: Worker<Item, S>,
    lifo: bool,
    split: bool,
    twin: VecDeque<u32>,
    made: u32,
    thieves: Vec<Thief>,
    random: XorShift,
}

impl<S: Stage> Run<S> {
    fn new(lifo: bool, split: bool, seed: u64) -> Self {
        let worker = Worker::for_tests(lifo, u32::MAX - 3, u32::MAX - 100, split);
        let thieves = (0..4).map(|_| Thief::Idle).collect();
        let split = worker.is_split();
        let random = XorShift::new(seed);
        Self { worker, lifo, split, twin: VecDeque::new(), made: 0, thieves, random }
    }

    fn push(&mut self) {
        self.made += 1;
        self.twin.push_back(self.made);
        self.worker.push([self.made; 20]);
    }

    fn pop(&mut self) {
        let expected = if self.lifo { self.twin.pop_back() } else { self.twin.pop_front() };
        assert_eq!(self.worker.pop(), expected.map(|item| [item; 20]));
    }

    /// The next step of thief `number`.
    fn step(&mut self, number: usize) {
        let inner = &self.worker.inner;
        let thief = std::mem::replace(&mut self.thieves[number], Thief::Idle);
        self.thieves[number] = match thief {
            Thief::Idle => {
                let look = if self.split {
                    inner.look_split()
                } else {
                    let (top, bottom) = inner.look();
                    match bottom.wrapping_sub(top.index()) {
                        0 => Steal::Empty,
                        items => Steal::Success((top, items)),
                    }
                };
                assert_eq!(look.is_empty(), self.twin.is_empty());
                match look {
                    Steal::Success((top, items)) => Thief::Looked(top, items),
                    _ => Thief::Idle,
                }
            }
            Thief::Looked(top, items) => {
                // A LIFO owner's items are claimed one by one.
                let most = if self.lifo && !self.split { 1 } else { items as usize };
                let wanted = 1 + self.random.below(most) as u32;
                match inner.claim(top, wanted) {
                    Some(claim) => {
                        let expected = self.twin.drain(..wanted as usize).collect();
                        Thief::Claimed(claim, 0, expected)
                    }
                    None => Thief::Idle,
                }
            }
            Thief::Claimed(claim, taken, expected) => {
                // SAFETY: each once, in order.
                let item = unsafe { claim.take(taken) };
                assert_eq!(item, [expected[taken as usize]; 20]);
                match taken + 1 == claim.len() {
                    true => Thief::Idle,
                    false => Thief::Claimed(claim, taken + 1, expected),
                }
            }
        };
    }

    fn go(mut self, steps: usize) {
        let mut target = 0;
        for step in 0..steps {
            if step % 200 == 0 {
                // Keeps about this many items for a while, so that the buffer grows, shrinks, and
                // goes round.
                target = [0, 1, 2, 10, 14, 40, 150][self.random.below(7)];
            }
            match self.random.below(8) {
                // Thieves differ in how often they take a step.
                0 => self.step(0),
                1 => self.step(1),
                2 if self.random.below(16) == 0 => self.step(2),
                3 if self.random.below(128) == 0 => self.step(3),
                _ if self.twin.len() > target || self.random.below(3) == 0 => self.pop(),
                _ => self.push(),
            }
            assert_eq!(self.worker.len(), self.twin.len());
        }
        for number in 0..self.thieves.len() {
            while !matches!(self.thieves[number], Thief::Idle) {
                self.step(number);
            }
        }
        while !self.twin.is_empty() {
            self.pop();
        }
    }
}

fn stalls<S: Stage>() {
    let steps = if cfg!(miri) { 400 } else { 200_000 };
    for seed in 1..=if cfg!(miri) { 1 } else { 4 } {
        for (lifo, split) in [(false, false), (true, false), (true, true)] {
            Run::<S>::new(lifo, split, seed).go(steps);
        }
    }
}

#[test]
fn plain() {
    stalls::<Plain>();
}

#[test]
fn padded() {
    stalls::<Padded>();
}

#[test]
fn cached() {
    stalls::<Cached>();
}

#[test]
fn asymmetric() {
    stalls::<Asymmetric>();
}
