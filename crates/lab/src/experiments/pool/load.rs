//! What a thread does with a pool.

use crate::adapter::{Content, Pool};
use crate::crew::StartLine;
use crate::error::{Error, expect};
use std::time::{Duration, Instant};

/// How many blocks a thread of `fifo` holds.
pub(super) const WINDOW: usize = 1000;
/// Pairs between two readings of the clock.
const STRETCH: u32 = 1000;

/// The order in which blocks are taken and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each block is given back at once.
    Short,
    /// All blocks are taken, then all are given back, the oldest first.
    Long,
    /// The oldest block of a window is given back for each new one.
    Fifo,
}

impl Shape {
    /// The name in identities.
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
    /// The thread's number.
    pub(super) owner: u32,
    /// How many blocks to take and give back.
    pub(super) pairs: u32,
    /// No pair begins after this time, except in [`Shape::Long`].
    pub(super) limit: Duration,
}

/// The result of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// How many blocks were taken and given back.
    pub(super) pairs: u64,
    /// The same in the rehearsal.
    pub(super) rehearsed: u64,
    /// The bits of all blocks that were not as their user had left them.
    wrong: u32,
    /// Whether the pool was empty once.
    ran_out: bool,
}

impl Tally {
    /// Returns whether all was right.
    pub(super) fn check(&self) -> Result<(), Error> {
        expect(
            "what lies in the blocks differs from what their users wrote in the bits",
            self.wrong,
            0,
        )?;
        expect("whether the pool had no block left", self.ran_out, false)
    }
}

/// Watches which blocks a thread has when it has most.
pub(super) trait Watch<P: Pool>: Default {
    /// Notes that the thread has these blocks.
    fn most<'a>(&mut self, pool: &P, blocks: impl Iterator<Item = &'a P::Handle>)
    where
        P::Handle: 'a;
}

/// Watches nothing.
impl<P: Pool> Watch<P> for () {
    #[inline(always)]
    fn most<'a>(&mut self, _: &P, _: impl Iterator<Item = &'a P::Handle>)
    where
        P::Handle: 'a,
    {
    }
}

/// Returns what the `number`-th user of a thread writes into its block.
#[inline(always)]
fn content(owner: u32, number: u32) -> Content {
    [owner, number, !number]
}

/// Returns the bits in which `found` differs.
#[inline(always)]
fn difference(found: Content, owner: u32, number: u32) -> u32 {
    let wanted = content(owner, number);
    (found[0] ^ wanted[0]) | (found[1] ^ wanted[1]) | (found[2] ^ wanted[2])
}

impl Round {
    /// Runs the round. `hand` has room for all blocks that are held at once, and is empty before
    /// and after.
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

    /// Makes a rehearsal, so that caches, including those of threads, are as they are in the long
    /// run. Then makes a timed round of all threads together.
    pub(super) fn rehearse_and_run<P: Pool, W: Watch<P>>(
        &self,
        pool: &P,
        hand: &mut Vec<P::Handle>,
        line: &StartLine,
    ) -> (Duration, Tally, W) {
        // In `Long` all memory must have been touched; a part of the round is enough for the
        // others.
        let part = if self.shape == Shape::Long { 1 } else { 8 };
        let rehearsal = Self { pairs: self.pairs / part, limit: self.limit / part, ..*self };
        let before = rehearsal.run(pool, hand, &mut ());
        let mut watch = W::default();
        let start = line.pass();
        let mut tally = self.run(pool, hand, &mut watch);
        let elapsed = start.elapsed();
        tally.rehearsed = before.pairs;
        tally.wrong |= before.wrong;
        tally.ran_out |= before.ran_out;
        (elapsed, tally, watch)
    }
}
