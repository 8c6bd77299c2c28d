//! Lazy binary splitting: one half on offer, the other worked off in chunks.

use super::Grain;
use crate::context;
use crate::join::join;
use crate::worker::Owner;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicUsize, Ordering};
use sateen_base::tsc;
use std::ops::ControlFlow;

/// How long a chunk should take. That is long compared with a look at the clock (about 10 ns), and
/// short compared with the end of a loop, when the others wait for the last chunk.
const CHUNK_TIME: Duration = Duration::from_micros(5);
/// A piece that takes less than one part in so many of that is not halved: about a microsecond,
/// which a thief needs to come for its half.
const LEAST_PART: usize = 4;

/// A part of a loop, on the worker that works it off. It holds what its chunks have made so far.
pub trait Piece: Sized {
    /// What another worker may take: a part of the loop that nobody has begun.
    type Rest: Send;
    /// What this piece has made before it was halved.
    type Kept;
    /// What a piece makes.
    type Output: Send;

    /// Begins a part.
    fn begin(rest: Self::Rest) -> Self;

    /// How many iterations are left.
    fn left(&self) -> usize;

    /// Whether the piece wants no more iterations. Asked before it is halved.
    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }

    /// How many iterations to do next, if `chunk` take as long as a chunk should: 1 or more,
    /// unless none are left.
    #[inline(always)]
    fn portion(&self, chunk: usize) -> usize {
        chunk.min(self.left())
    }

    /// Does `count` iterations, which is at most what [`left`](Self::left) says. Breaks with what
    /// the piece has made if none are left, or if it wants no more.
    fn work(self, count: usize) -> ControlFlow<Self::Output, Self>;

    /// Splits what is left in the middle.
    fn halve(self) -> (Self::Kept, Self::Rest, Self::Rest);

    /// What the piece has made, for one that wants no more.
    fn end(self) -> Self::Output;

    /// Joins what a halved piece and its halves have made, in this order.
    fn join(kept: Self::Kept, a: Self::Output, b: Self::Output) -> Self::Output;
}

/// How a loop is cut.
#[derive(Debug)]
pub struct Lazy {
    grain: Grain,
    /// The least number of iterations of a chunk.
    floor: usize,
    chunk_ticks: u64,
    /// The chunk that a piece has arrived at last: other pieces begin near it.
    learned: AtomicUsize,
}

impl Lazy {
    /// A loop with chunks of `grain`.
    #[inline]
    pub fn new(grain: Grain) -> Self {
        let floor = match grain {
            Grain::Auto => 1,
            Grain::Fixed(n) => n.max(1),
        };
        Self { grain, floor, chunk_ticks: tsc::ticks(CHUNK_TIME), learned: AtomicUsize::new(1) }
    }

    /// A loop with chunks found by timing, none of them shorter than `floor`.
    #[inline]
    pub fn at_least(floor: usize) -> Self {
        Self { floor: floor.max(1), ..Self::new(Grain::Auto) }
    }

    /// Works `rest` off.
    pub fn run<P: Piece>(&self, rest: P::Rest) -> P::Output {
        let mut piece = P::begin(rest);
        // Relaxed: a hint. Half of it, for pieces whose items take longer.
        let learned = self.learned.load(Ordering::Relaxed);
        let mut chunk = (learned / 2).max(self.floor);
        let least = (learned / LEAST_PART).max(self.floor.saturating_mul(2));
        let mut before = tsc::now();
        loop {
            if piece.left() >= least && !on_offer() {
                if piece.is_full() {
                    return piece.end();
                }
                let (kept, a, b) = piece.halve();
                let (a, b) = join(|| self.run::<P>(a), || self.run::<P>(b));
                return P::join(kept, a, b);
            }
            let count = piece.portion(chunk);
            piece = match piece.work(count) {
                ControlFlow::Break(output) => return output,
                ControlFlow::Continue(piece) => piece,
            };
            // A shorter portion tells nothing about chunks.
            if self.grain == Grain::Auto && count == chunk {
                let now = tsc::now();
                chunk = self.resize(chunk, now.saturating_sub(before));
                before = now;
            }
        }
    }

    #[inline]
    fn resize(&self, chunk: usize, ticks: u64) -> usize {
        let new = if ticks < self.chunk_ticks / 16 {
            chunk.saturating_mul(8)
        } else if ticks < self.chunk_ticks / 2 {
            chunk.saturating_mul(2)
        } else if ticks > self.chunk_ticks * 2 {
            (chunk / 2).max(self.floor)
        } else {
            return chunk;
        };
        self.learned.store(new, Ordering::Relaxed);
        new
    }
}

/// Whether the calling task has anything on its join stack that others could take. Answers their
/// requests on the way. Outside of a runtime: false, so that the loop's `join` moves it into one.
#[inline]
fn on_offer() -> bool {
    Owner::poll();
    match context::fiber() {
        Some(fiber) => !fiber.join_stack().is_empty(),
        None => context::with(context::Context::is_inline),
    }
}
