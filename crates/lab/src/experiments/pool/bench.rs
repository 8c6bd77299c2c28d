//! A pool in a context, and threads that use it.

use super::context::Context;
use super::load::{Round, Shape, Tally, WINDOW, Watch};
use crate::adapter::Pool;
use crate::crew::{self, StartLine};
use crate::error::{Error, expect};
use crate::experiment::Session;
use std::time::Duration;

const STACK: usize = 256 << 10;

/// One case in one configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) shape: Shape,
    pub(super) context: Context,
    pub(super) threads: usize,
    /// Size of a block in bytes.
    pub(super) size: usize,
    /// How many blocks each thread takes and gives back.
    pub(super) pairs: u32,
    /// Least number of blocks of a pool, so that it fits no cache.
    pub(super) least: usize,
    pub(super) limit: Duration,
}

impl Case {
    /// Returns the most blocks in use at once.
    fn most(&self) -> usize {
        self.threads
            * match self.shape {
                Shape::Short => 1,
                Shape::Long => self.pairs as usize,
                Shape::Fifo => WINDOW + 1,
            }
    }

    /// Returns twice the most blocks in use at once, rounded up.
    fn capacity(&self) -> usize {
        (2 * self.most()).next_power_of_two().max(self.least)
    }

    /// Returns a little more than the most blocks in use at once, because threads may hold back
    /// some.
    fn needed(&self) -> usize {
        let little = (self.capacity() / 256).max(512 * self.threads);
        self.capacity().min(self.most() + little)
    }

    fn round(&self, owner: usize) -> Round {
        Round { shape: self.shape, owner: owner as u32, pairs: self.pairs, limit: self.limit }
    }
}

/// A pool in its context.
pub(super) struct Bench<P: Pool> {
    case: Case,
    pool: P,
    /// Blocks that stay in use all the time.
    held: Vec<P::Handle>,
    /// Room for the blocks that each thread holds. Its memory was touched before.
    hands: Vec<Vec<P::Handle>>,
}

impl<P: Pool> Bench<P> {
    pub(super) fn open(case: Case) -> Result<Self, Error> {
        let pool = P::open(case.capacity(), case.size)?;
        let held = case.context.take(&pool, case.capacity(), case.needed())?;
        let room = match case.shape {
            Shape::Short => 0,
            Shape::Long => case.pairs as usize,
            Shape::Fifo => WINDOW,
        };
        let hands = (0..case.threads).map(|_| Vec::with_capacity(room)).collect();
        Ok(Self { case, pool, held, hands })
    }

    /// Returns the wall time per pair, after all checks.
    fn gather<'a>(&self, done: impl Iterator<Item = (Duration, &'a Tally)>) -> Result<f64, Error> {
        let (mut wall, mut pairs) = (Duration::ZERO, 0);
        for (elapsed, tally) in done {
            tally.check()?;
            wall = wall.max(elapsed);
            pairs += tally.pairs;
        }
        if let Some(in_use) = self.pool.in_use() {
            expect("the number of blocks still in use", in_use, self.held.len())?;
        }
        Ok(wall.as_nanos() as f64 / pairs as f64)
    }
}

impl<P: Pool + Sync> Bench<P> {
    /// Runs all threads. Returns the wall time per pair, how many blocks were taken, and what each
    /// watch saw.
    fn together<W: Watch<P> + Send>(&mut self) -> Result<(f64, u64, Vec<W>), Error> {
        let (case, pool, line) = (self.case, &self.pool, &StartLine::new(self.case.threads));
        let jobs = self.hands.iter_mut().enumerate().map(|(owner, hand)| {
            move || case.round(owner).rehearse_and_run::<P, W>(pool, hand, line)
        });
        let done = crew::run(STACK, jobs.collect())?;
        let ns = self.gather(done.iter().map(|d| (d.result.0, &d.result.1)))?;
        let taken = done.iter().map(|d| d.result.1.pairs + d.result.1.rehearsed).sum();
        Ok((ns, taken, done.into_iter().map(|d| d.result.2).collect()))
    }
}

impl<P: Pool> Drop for Bench<P> {
    /// Gives back blocks that do not lie in the pool's own memory.
    fn drop(&mut self) {
        if !P::BOUNDED {
            for block in self.held.drain(..) {
                self.pool.give(block);
            }
        }
    }
}

/// Timed runs of threads that share the pool.
pub(super) struct Timed<P: Pool>(pub(super) Bench<P>);

impl<P: Pool + Sync> Session for Timed<P> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        self.0.together::<()>().map(|(ns, ..)| vec![ns])
    }
}

/// Timed runs of a thread that has the pool for itself.
pub(super) struct Alone<P: Pool>(pub(super) Bench<P>);

impl<P: Pool> Session for Alone<P> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let Bench { case, pool, hands, .. } = &mut self.0;
        let (elapsed, tally, ()) =
            case.round(0).rehearse_and_run(&*pool, &mut hands[0], &StartLine::new(1));
        self.0.gather([(elapsed, &tally)].into_iter()).map(|ns| vec![ns])
    }
}

/// Untimed runs: what the strategy's probe counts, and where blocks lie.
pub(super) struct Counted<P: Pool>(pub(super) Bench<P>);

impl<P: Pool + Sync> Session for Counted<P> {
    /// Returns the bytes of bookkeeping for a block, the words looked at and the exchanges lost for
    /// an allocation, and the span over the blocks in use.
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let before = self.0.pool.counts();
        let (_, taken, extents) = self.0.together::<Extent>()?;
        let after = self.0.pool.counts();
        let extent = extents.into_iter().fold(Extent::default(), Extent::and);
        Ok(vec![
            self.0.pool.bookkeeping() as f64 / self.0.case.capacity() as f64,
            (after.searched - before.searched) as f64 / taken as f64,
            (after.retries - before.retries) as f64 / taken as f64,
            (extent.end - extent.start) as f64 / extent.blocks.max(1) as f64,
        ])
    }
}

/// Positions from the first block to behind the last one, and how many blocks there are.
#[derive(Debug)]
struct Extent {
    start: usize,
    end: usize,
    blocks: usize,
}

impl Default for Extent {
    fn default() -> Self {
        Self { start: usize::MAX, end: 0, blocks: 0 }
    }
}

impl Extent {
    fn and(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            blocks: self.blocks + other.blocks,
        }
    }
}

impl<P: Pool> Watch<P> for Extent {
    fn most<'a>(&mut self, pool: &P, blocks: impl Iterator<Item = &'a P::Handle>)
    where
        P::Handle: 'a,
    {
        for position in blocks.map(|block| pool.position(block)) {
            self.start = self.start.min(position);
            self.end = self.end.max(position + 1);
            self.blocks += 1;
        }
    }
}
