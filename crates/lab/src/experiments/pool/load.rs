//! What a thread does with a pool.

use crate::adapter::{Content, Pool};
use crate::crew::Gate;
use crate::error::{Error, expect};
use std::time::{Duration, Instant};

/// Blocks that a thread of `fifo` has in hand.
pub(super) const WINDOW: usize = 1000;
/// Pairs between two looks at the clock.
const STRETCH: u32 = 1000;

/// In which order blocks are taken and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each at once.
    Short,
    /// All are taken, then all are given back, the oldest first.
    Long,
    /// The oldest of a window goes for each new one.
    Fifo,
}

impl Shape {
    /// As in identities.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
            Self::Fifo => "fifo",
        }
    }
}

/// One round of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub(super) shape: Shape,
    /// Which thread.
    pub(super) owner: u32,
    /// Blocks to take and to give back.
    pub(super) pairs: u32,
    /// Nothing more is begun after that time, except in [`Shape::Long`].
    pub(super) limit: Duration,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Blocks that were taken and given back.
    pub(super) pairs: u64,
    /// The same in the rehearsal.
    pub(super) rehearsed: u64,
    /// Any bit that was not in a block as its user had left it there.
    wrong: u32,
    /// There was no block left once.
    ran_out: bool,
}

impl Tally {
    /// Whether all was well.
    pub(super) fn check(&self) -> Result<(), Error> {
        expect(
            "what lies in the blocks differs from what their users wrote in the bits",
            self.wrong,
            0,
        )?;
        expect("whether the pool had no block left", self.ran_out, false)
    }
}

/// Where the blocks lie that a thread has when it has most.
pub(super) trait Watch<P: Pool>: Default {
    /// The thread has these.
    fn most<'a>(&mut self, pool: &P, blocks: impl Iterator<Item = &'a P::Handle>)
    where
        P::Handle: 'a;
}

/// Nobody asks.
impl<P: Pool> Watch<P> for () {
    #[inline(always)]
    fn most<'a>(&mut self, _: &P, _: impl Iterator<Item = &'a P::Handle>)
    where
        P::Handle: 'a,
    {
    }
}

/// What the `number`-th user of a thread writes into its block.
#[inline(always)]
fn content(owner: u32, number: u32) -> Content {
    [owner, number, !number]
}

/// The bits in which `found` differs.
#[inline(always)]
fn difference(found: Content, owner: u32, number: u32) -> u32 {
    let wanted = content(owner, number);
    (found[0] ^ wanted[0]) | (found[1] ^ wanted[1]) | (found[2] ^ wanted[2])
}

impl Round {
    /// Does it; `hand` has room for all blocks that are in hand at once, and is empty before and after.
    #[inline(never)]
    pub(super) fn run<P: Pool, W: Watch<P>>(
        &self,
        pool: &P,
        hand: &mut Vec<P::Handle>,
        watch: &mut W,
    ) -> Tally {
        match self.shape {
            Shape::Short => self.short(pool, watch),
            Shape::Long => self.long(pool, hand, watch),
            Shape::Fifo => self.fifo(pool, hand, watch),
        }
    }

    #[inline(always)]
    fn short<P: Pool, W: Watch<P>>(&self, pool: &P, watch: &mut W) -> Tally {
        let (start, mut tally, mut number) = (Instant::now(), Tally::default(), 0);
        while number < self.pairs && start.elapsed() < self.limit {
            let end = self.pairs.min(number + STRETCH);
            while number < end {
                let Some(block) = pool.take(content(self.owner, number)) else {
                    tally.ran_out = true;
                    return tally;
                };
                if number + 1 == self.pairs {
                    watch.most(pool, std::iter::once(&block));
                }
                tally.wrong |= difference(pool.give(block), self.owner, number);
                number += 1;
            }
        }
        tally.pairs = u64::from(number);
        tally
    }

    #[inline(always)]
    fn long<P: Pool, W: Watch<P>>(
        &self,
        pool: &P,
        hand: &mut Vec<P::Handle>,
        watch: &mut W,
    ) -> Tally {
        let mut tally = Tally::default();
        for number in 0..self.pairs {
            let Some(block) = pool.take(content(self.owner, number)) else {
                tally.ran_out = true;
                break;
            };
            hand.push(block);
        }
        watch.most(pool, hand.iter());
        tally.pairs = hand.len() as u64;
        for (number, block) in (0..).zip(hand.drain(..)) {
            tally.wrong |= difference(pool.give(block), self.owner, number);
        }
        tally
    }

    #[inline(always)]
    fn fifo<P: Pool, W: Watch<P>>(
        &self,
        pool: &P,
        hand: &mut Vec<P::Handle>,
        watch: &mut W,
    ) -> Tally {
        let window = (self.pairs / 2).min(WINDOW as u32);
        let (start, mut tally, mut number) = (Instant::now(), Tally::default(), 0);
        while number < window {
            let Some(block) = pool.take(content(self.owner, number)) else { break };
            hand.push(block);
            number += 1;
        }
        tally.ran_out = number < window;
        while !tally.ran_out && number + window <= self.pairs && start.elapsed() < self.limit {
            for oldest in &mut *hand {
                let Some(block) = pool.take(content(self.owner, number)) else {
                    tally.ran_out = true;
                    return tally;
                };
                let oldest = std::mem::replace(oldest, block);
                tally.wrong |= difference(pool.give(oldest), self.owner, number - window);
                number += 1;
            }
        }
        watch.most(pool, hand.iter());
        tally.pairs = u64::from(number);
        for (age, block) in (number - hand.len() as u32..).zip(hand.drain(..)) {
            tally.wrong |= difference(pool.give(block), self.owner, age);
        }
        tally
    }

    /// A rehearsal, so that caches, the thread's own ones too, are as they are in the long run; then all threads
    /// together, timed.
    pub(super) fn rehearse_and_run<P: Pool, W: Watch<P>>(
        &self,
        pool: &P,
        hand: &mut Vec<P::Handle>,
        gate: &Gate,
    ) -> (Duration, Tally, W) {
        // Long blocks must all have been touched; others need no more than a part.
        let part = if self.shape == Shape::Long { 1 } else { 8 };
        let rehearsal = Self { pairs: self.pairs / part, limit: self.limit / part, ..*self };
        let before = rehearsal.run(pool, hand, &mut ());
        let mut watch = W::default();
        let start = gate.pass();
        let mut tally = self.run(pool, hand, &mut watch);
        let elapsed = start.elapsed();
        tally.rehearsed = before.pairs;
        tally.wrong |= before.wrong;
        tally.ran_out |= before.ran_out;
        (elapsed, tally, watch)
    }
}
