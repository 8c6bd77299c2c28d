//! Lazy binary splitting: one half on offer, the other worked off in chunks.

use super::Grain;
use crate::context;
use crate::join::join;
use crate::unwind::Held;
use crate::worker::Owner;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicUsize, Ordering};
use sateen_base::tsc;
use std::ops::Range;

/// How long a chunk should take. That is long compared with a look at the clock (about 10 ns), and
/// short compared with the end of a loop, when the others wait for the last chunk.
const CHUNK_TIME: Duration = Duration::from_micros(5);
/// A piece that takes less than one part in so many of that is not halved: about a microsecond,
/// which a thief needs to come for its half.
const LEAST_PART: usize = 4;

/// How a loop is cut.
pub(super) struct Lazy {
    grain: Grain,
    chunk_ticks: u64,
    /// The chunk that a piece has arrived at last: other pieces begin near it.
    learned: AtomicUsize,
}

impl Lazy {
    pub(super) fn new(grain: Grain) -> Self {
        Self { grain, chunk_ticks: tsc::ticks(CHUNK_TIME), learned: AtomicUsize::new(1) }
    }

    /// Folds every index into values made by `identity`, and combines these in order.
    pub(super) fn reduce<R: Send>(
        &self,
        range: Range<usize>,
        identity: &(impl Fn() -> R + Sync),
        fold: &(impl Fn(R, Range<usize>) -> R + Sync),
        combine: &(impl Fn(R, R) -> R + Sync),
    ) -> R {
        // Held wherever other code of the user's runs meanwhile.
        let mut acc = Held::new(identity());
        let Range { start: mut low, end: high } = range;
        // Relaxed: a hint. Half of it, for pieces whose items take longer.
        let learned = self.learned.load(Ordering::Relaxed);
        let (mut chunk, least) = match self.grain {
            Grain::Auto => ((learned / 2).max(1), (learned / LEAST_PART).max(2)),
            Grain::Fixed(n) => (n.max(1), n.max(1).saturating_mul(2)),
        };
        let mut before = tsc::now();
        while low < high {
            let left = high - low;
            if left >= least && !on_offer() {
                let middle = low + left / 2;
                let (a, b) = join(
                    || self.reduce(low..middle, identity, fold, combine),
                    || self.reduce(middle..high, identity, fold, combine),
                );
                let b = Held::new(b);
                let low = combine(acc.release(), a);
                return combine(low, b.release());
            }
            let next = low + chunk.min(left);
            acc = Held::new(fold(acc.release(), low..next));
            low = next;
            if self.grain == Grain::Auto && left >= chunk {
                let now = tsc::now();
                chunk = self.resize(chunk, now.saturating_sub(before));
                before = now;
            }
        }
        acc.release()
    }

    #[inline]
    fn resize(&self, chunk: usize, ticks: u64) -> usize {
        let new = if ticks < self.chunk_ticks / 16 {
            chunk.saturating_mul(8)
        } else if ticks < self.chunk_ticks / 2 {
            chunk.saturating_mul(2)
        } else if ticks > self.chunk_ticks * 2 {
            (chunk / 2).max(1)
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
