//! Lazy binary splitting: one half of a loop is on offer while the other runs in chunks.

use super::piece::Piece;
use super::site::Site;
use crate::context::{self, this_fiber};
use crate::elsewhere::{Elsewhere, outside};
use crate::fiber::Fiber;
use crate::fresh::Fresh;
use crate::join::join_distant;
use crate::join_stack::JoinStack;
use crate::task::in_branch;
use crate::unwind::{Held, discard};
use crate::worker::Owner;
use sateen_base::abort_with;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicUsize, Ordering};
use sateen_base::tsc;
use std::any::Any;
use std::panic::resume_unwind;
use std::sync::OnceLock;

/// The target time of a chunk. It is long compared with a reading of the clock (about 10 ns), and
/// short compared with the end of a loop, when other workers wait for the last chunk.
const CHUNK_TIME: Duration = Duration::from_micros(5);
/// A piece shorter than this fraction of the target time is not halved. That is about a
/// microsecond, which a thief needs to fetch its half.
const LEAST_PART: usize = 4;

/// The most iterations in a loop's first chunk, if the last loop at its site was quick. A quick
/// first iteration allows as many in the second chunk.
const FIRST_CHUNK: usize = 8;
/// The first chunk is at most this fraction of the loop, because its iterations may be slow.
const FIRST_PART: usize = 8;

/// The half that was on offer, after the owner has finished its own.
enum Half<P: Piece> {
    /// Nobody has taken it.
    Left(P::Rest),
    /// Another worker has run it. Boxed, because each level of halves would hold several copies.
    Taken(Box<P::Output>),
}

/// The half on offer, in its owner's frame, or a whole loop that waits for a runtime.
struct Offered<'l, P: Piece> {
    lazy: &'l Lazy,
    /// `None` while a thief runs it, and after the thief's panic.
    half: Option<Half<P>>,
}

impl<P: Piece> Offered<'_, P> {
    /// Runs the half.
    fn run(&mut self) {
        if let Some(Half::Left(rest)) = self.half.take() {
            self.half = Some(Half::Taken(Box::new(self.lazy.run_on::<P>(join_stack(), rest))));
        }
    }

    /// Runs the half on its thief's thread.
    ///
    /// # Safety
    /// `this` points to an `Offered<P>` that no other thread uses until this returns.
    unsafe fn run_stolen(this: *mut ()) {
        // SAFETY: by contract.
        let this = unsafe { &mut *this.cast::<Self>() };
        match Fresh::for_loop() {
            // After a panic the half stays for its owner, who discards it.
            Some(fresh) => {
                fresh.call(&mut || this.run()).unwrap_or_else(|panic| resume_unwind(panic))
            }
            None => this.run(),
        }
    }

    /// A half has panicked: drops the thief's results.
    #[cold]
    #[inline(never)]
    fn unwind(self, panic: Option<Box<dyn Any + Send>>) -> ! {
        discard(self.half);
        match panic {
            Some(panic) => resume_unwind(panic),
            None => abort_with("half of a loop did not run"),
        }
    }
}

/// How a loop is divided.
#[derive(Debug)]
pub struct Lazy {
    /// Whether chunks are found by timing.
    timed: bool,
    /// The least number of iterations of a chunk.
    floor: usize,
    chunk_ticks: u64,
    /// The chunk size that a piece has last arrived at; other pieces start near it.
    learned: AtomicUsize,
}

impl Lazy {
    /// A loop with chunks found by timing, none of them shorter than `floor`.
    #[inline]
    pub fn at_least(floor: usize) -> Self {
        let learned = AtomicUsize::new(1);
        Self { timed: true, floor: floor.max(1), chunk_ticks: chunk_ticks(), learned }
    }

    /// A loop with chunks of `size`, whatever they take: for tests.
    pub fn in_chunks(size: usize) -> Self {
        Self { timed: false, ..Self::at_least(size) }
    }

    /// Runs `rest`, on the global runtime if the caller is outside of any.
    #[inline]
    pub fn run<P: Piece>(mut self, rest: P::Rest) -> P::Output {
        let Some(stack) = join_stack() else {
            // A short loop is not worth sending to a runtime.
            let is_long = P::left(&rest) >= self.floor.saturating_mul(2);
            let place = if is_long { outside() } else { Elsewhere::Inline };
            return self.run_elsewhere::<P>(place, rest);
        };
        let site = Site::of(Offered::<P>::run_stolen);
        let known = self.recall(site, P::left(&rest));
        let output = match Fresh::for_loop() {
            Some(fresh) => self.run_elsewhere::<P>(Elsewhere::Fresh(fresh), rest),
            None => self.run_on::<P>(Some(stack), rest),
        };
        self.remember(site, known);
        output
    }

    /// Begins a loop of `len` iterations with the chunk size learned at `site`, and returns that.
    /// Many loops are shorter than a chunk; without this, each would read the clock three times.
    fn recall(&mut self, site: Site, len: usize) -> usize {
        let learned = self.learned.get_mut();
        if self.timed {
            let most = FIRST_CHUNK.min(len.div_ceil(FIRST_PART));
            // The first chunk is half of what was learned.
            *learned = site.chunk().min(2 * most);
        }
        *learned
    }

    /// Records what was learned, unless it equals `known`.
    fn remember(&mut self, site: Site, known: usize) {
        let learned = *self.learned.get_mut();
        if learned != known {
            site.set_chunk(learned);
        }
    }

    #[cold]
    #[inline(never)]
    fn run_elsewhere<P: Piece>(&self, place: Elsewhere, rest: P::Rest) -> P::Output {
        let mut all = Offered::<P> { lazy: self, half: Some(Half::Left(rest)) };
        match (place.call(&mut || all.run()), all.half) {
            (Ok(()), Some(Half::Taken(output))) => *output,
            (panic, half) => Offered { lazy: self, half }.unwind(panic.err()),
        }
    }

    fn run_on<P: Piece>(&self, stack: Option<&JoinStack>, rest: P::Rest) -> P::Output {
        in_branch(|| {
            let mut state = Held::new(P::begin(&rest));
            self.work_off::<P>(stack, &mut state, rest);
            P::end(state.release())
        })
    }

    /// Folds `rest` into `state`. Without a `stack` it runs everything here.
    ///
    /// While one half is on offer, the other runs in a frame above this one, which may halve it
    /// again. If nobody takes the half on offer, this frame continues with it and with the same
    /// state. So the number of frames is that of the stolen offers, not of all offers.
    ///
    /// If thieves take every half, all offers count after all. So a frame runs without a stack if
    /// half of the fiber's stack is used: a chunk takes more of it than a level does, and in a
    /// debug build both take many KiB.
    fn work_off<P: Piece>(
        &self,
        stack: Option<&JoinStack>,
        state: &mut P::State,
        mut rest: P::Rest,
    ) {
        let (mut chunk, mut least) = self.sizes();
        let mut before = tsc::now();
        loop {
            if P::is_full(state, &rest) {
                return P::give_up(state, rest);
            }
            if let Some(stack) = stack
                && P::left(&rest) >= least
                && !on_offer(stack)
            {
                let (a, seam, b) = P::halve(rest);
                match self.offer::<P>(stack, state, a, b) {
                    Half::Taken(output) => return P::append(state, seam, *output),
                    Half::Left(b) => {
                        P::go_on(state, seam);
                        rest = b;
                    }
                }
                (chunk, least) = self.sizes();
                before = tsc::now();
                continue;
            }
            let count = P::portion(state, &rest, chunk);
            rest = match P::work(state, rest, count) {
                None => return,
                Some(rest) => rest,
            };
            // A much shorter portion tells nothing about chunks.
            if self.timed && count > chunk / 2 {
                let now = tsc::now();
                chunk = self.resize(chunk, now.saturating_sub(before));
                before = now;
            }
        }
    }

    /// Folds `a` into `state` while other workers may take `b`.
    #[inline]
    fn offer<P: Piece>(
        &self,
        stack: &JoinStack,
        state: &mut P::State,
        a: P::Rest,
        b: P::Rest,
    ) -> Half<P> {
        let mut offered = Offered::<P> { lazy: self, half: Some(Half::Left(b)) };
        let mut first = Some(a);
        let mut here = || {
            if let Some(a) = first.take() {
                let stack = this_fiber().has_half_left().then_some(stack);
                self.work_off::<P>(stack, state, a);
            }
        };
        // SAFETY: the running fiber's stack. This frame does not use `offered` meanwhile. Another
        // thread may, because `Rest` and `Output` are `Send` and the rest is shared.
        let panic = unsafe {
            join_distant(stack, &mut here, Offered::<P>::run_stolen, (&raw mut offered).cast())
        };
        match (panic, offered.half) {
            (None, Some(half)) => half,
            (panic, half) => Offered { lazy: self, half }.unwind(panic),
        }
    }

    /// The first chunk of a part, and the number of iterations worth halving. It is half of what
    /// others have learned, in case this part's iterations take longer. Relaxed: a hint.
    #[inline]
    fn sizes(&self) -> (usize, usize) {
        let learned = self.learned.load(Ordering::Relaxed);
        let least = (learned / LEAST_PART).max(self.floor.saturating_mul(2));
        ((learned / 2).max(self.floor), least)
    }

    #[inline]
    fn resize(&self, chunk: usize, ticks: u64) -> usize {
        let new = if ticks < self.chunk_ticks / 16 {
            // Not larger: a few short iterations tell little about the next ones, and a chunk
            // cannot be stolen in part.
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

/// [`CHUNK_TIME`] in ticks.
#[inline]
fn chunk_ticks() -> u64 {
    static TICKS: OnceLock<u64> = OnceLock::new();
    *TICKS.get_or_init(|| tsc::ticks(CHUNK_TIME))
}

/// The join stack of the running fiber, valid while the caller's frame keeps the fiber running.
#[inline]
fn join_stack<'s>() -> Option<&'s JoinStack> {
    context::fiber().map(Fiber::join_stack)
}

/// Whether the calling task, whose stack this is, has a branch that others could take. Also answers
/// their requests.
#[inline]
fn on_offer(stack: &JoinStack) -> bool {
    if stack.is_empty() {
        // Answering now would publish nothing, and a thief asks again only at its next search. The
        // caller makes an offer next, and that answers.
        return false;
    }
    Owner::poll();
    !stack.is_empty()
}
