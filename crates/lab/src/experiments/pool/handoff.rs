//! Blocks that one thread takes and another gives back.
//!
//! The blocks travel in batches through a ring of slots. A slot holds a full or an empty batch
//! behind a lock. The slot's flag says whose turn it is, so no thread ever waits for the lock.
//! Batches are exchanged, so nothing is allocated. That costs about two locks and two cache lines
//! for 64 blocks, the same for all pools.

use crate::adapter::{Content, Pool};
use crate::crew::{self, Relax, StartLine};
use crate::error::{Error, expect};
use crate::experiment::Session;
use sateen_base::CachePadded;
use std::mem::swap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many blocks travel together.
const BATCH: usize = 64;
/// Most batches on the way.
const SLOTS: usize = 16;
const STACK: usize = 256 << 10;

struct Slot<H> {
    full: AtomicBool,
    batch: Mutex<Vec<H>>,
}

struct Ring<H>(Vec<CachePadded<Slot<H>>>);

impl<H> Ring<H> {
    fn new() -> Self {
        let slot =
            || Slot { full: AtomicBool::new(false), batch: Mutex::new(Vec::with_capacity(BATCH)) };
        Self((0..SLOTS).map(|_| CachePadded::new(slot())).collect())
    }

    /// Exchanges `batch` with that of slot `turn`, once that slot is full or empty, as `wanted`.
    #[inline]
    fn exchange(&self, turn: usize, wanted: bool, batch: &mut Vec<H>, relax: &mut Relax) {
        let slot = &self.0[turn % SLOTS];
        // Ordering: pairs with the release store below, by the other side.
        while slot.full.load(Ordering::Acquire) != wanted {
            relax.pause();
        }
        relax.reset();
        swap(batch, &mut slot.batch.lock().unwrap_or_else(PoisonError::into_inner));
        // Ordering: pairs with the acquire load above; the lock guards the batch anyway.
        slot.full.store(!wanted, Ordering::Release);
    }
}

/// A pool between two threads.
pub(super) struct Handoff<P: Pool> {
    pool: P,
    /// How many blocks a run hands over.
    blocks: u32,
}

/// The result of one side.
struct End {
    elapsed: Duration,
    wrong: u32,
    blocks: u32,
}

impl<P: Pool> Handoff<P> {
    pub(super) fn open(capacity: usize, size: usize, blocks: u32) -> Result<Self, Error> {
        Ok(Self { pool: P::open(capacity, size)?, blocks: blocks / BATCH as u32 * BATCH as u32 })
    }
}

fn content(number: u32) -> Content {
    [0, number, !number]
}

fn produce<P: Pool>(pool: &P, ring: &Ring<P::Handle>, blocks: u32) -> u32 {
    let (mut relax, mut batch, mut taken) = (Relax::new(2), Vec::with_capacity(BATCH), 0);
    for turn in 0..blocks as usize / BATCH {
        for _ in 0..BATCH {
            // Few blocks are on the way, so an empty pool is an error, which the counts tell.
            let Some(block) = pool.take(content(taken)) else { break };
            batch.push(block);
            taken += 1;
        }
        ring.exchange(turn, false, &mut batch, &mut relax);
    }
    taken
}

fn consume<P: Pool>(pool: &P, ring: &Ring<P::Handle>, blocks: u32) -> (u32, u32) {
    let (mut relax, mut batch, mut given, mut wrong) =
        (Relax::new(2), Vec::with_capacity(BATCH), 0, 0);
    for turn in 0..blocks as usize / BATCH {
        ring.exchange(turn, true, &mut batch, &mut relax);
        for block in batch.drain(..) {
            let (found, wanted) = (pool.give(block), content(given));
            wrong |= (found[0] ^ wanted[0]) | (found[1] ^ wanted[1]) | (found[2] ^ wanted[2]);
            given += 1;
        }
    }
    (given, wrong)
}

impl<P: Pool + Sync> Session for Handoff<P> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let (pool, all, line) = (&self.pool, self.blocks, &StartLine::new(2));
        let (rehearsal, ring) = (&Ring::new(), &Ring::new());
        let side = |produces: bool| {
            move || {
                let go = |ring: &Ring<P::Handle>, blocks: u32| match produces {
                    true => (produce(pool, ring, blocks), 0),
                    false => consume(pool, ring, blocks),
                };
                go(rehearsal, all / 8);
                let start = line.pass();
                let (blocks, wrong) = go(ring, all);
                End { elapsed: start.elapsed(), wrong, blocks }
            }
        };
        let done = crew::run(STACK, vec![side(true), side(false)])?;
        let mut wall = Duration::ZERO;
        for End { elapsed, wrong, blocks } in done.into_iter().map(|d| d.result) {
            expect("the number of blocks that went over", blocks, all)?;
            expect("what lies in the blocks differs from what was written in the bits", wrong, 0)?;
            wall = wall.max(elapsed);
        }
        if let Some(in_use) = pool.in_use() {
            expect("the number of blocks still in use", in_use, 0)?;
        }
        Ok(vec![wall.as_nanos() as f64 / f64::from(all)])
    }
}

/// No pool: numbers go over. Measures the transport.
pub(super) struct Nothing;

impl Pool for Nothing {
    type Handle = u64;
    const BOUNDED: bool = false;

    fn open(_capacity: usize, _size: usize) -> Result<Self, Error> {
        Ok(Self)
    }

    #[inline(always)]
    fn take(&self, content: Content) -> Option<u64> {
        Some(u64::from(content[0]) << 32 | u64::from(content[1]))
    }

    #[inline(always)]
    fn give(&self, block: u64) -> Content {
        [(block >> 32) as u32, block as u32, !(block as u32)]
    }

    fn position(&self, _block: &u64) -> usize {
        0
    }

    fn in_use(&self) -> Option<usize> {
        None
    }
}
