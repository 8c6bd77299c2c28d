//! Detects that no worker of a runtime out of stacks can start anything.
//!
//! | a worker | means | moves on to |
//! |---|---|---|
//! | works | anything else | tries, with no stack to start work on; sleeps, with nothing to do |
//! | tries | it looks for a stack, and for fibers that can resume | works, or naps |
//! | naps | it found neither | tries, after 2 ms at most |
//! | sleeps | it has a stack, is announced in the event count, and takes nothing | works |
//! | is away | it is a substitute without a thread, or a dormant one | works |
//!
//! Each worker changes its own state, except that a recalled substitute is moved by the worker that
//! recalls it.
//!
//! | word | counts |
//! |---|---|
//! | `counts`, low half | workers that work or try |
//! | `counts`, high half | workers that sleep |
//! | `changes` | how often `counts` has changed; counted after the change, by the same thread |
//! | `starved` | workers that try or nap; a hint for reports |
//! | `stuck` | starved workers that have run out of options; a hint for reports |
//!
//! Proof: `README.md`, "Out of stacks"; model: `loom_stall.rs`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicU64;
use sateen_base::prim::{AtomicUsize, Ordering, fence};
use std::cell::Cell;

const AWAKE: u64 = 1;
const ASLEEP: u64 = 1 << 32;

/// Whether a worker lacks a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has one.
    Working,
    /// It has none: it alternates between trying and napping.
    Starved,
    /// It has none and has run out of options. It saw all others rest, and could neither exceed the
    /// limit nor refuse a task.
    Stuck,
}

impl State {
    /// Whether the worker lacks a stack.
    pub fn is_starved(self) -> bool {
        self != Self::Working
    }
}

/// How a worker rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Without a stack.
    Nap,
    /// With a stack, and announced. The worker rests after its announcement and wakes before its
    /// next one.
    Sleep,
}

impl Rest {
    /// The change of `counts`.
    fn change(self) -> u64 {
        match self {
            Self::Nap => AWAKE.wrapping_neg(),
            Self::Sleep => ASLEEP.wrapping_sub(AWAKE),
        }
    }
}

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct Stall {
    counts: AtomicU64,
    changes: AtomicU64,
    starved: AtomicUsize,
    stuck: AtomicUsize,
}

/// A worker's own state.
#[derive(Debug)]
pub struct OwnState(Cell<State>);

impl OwnState {
    /// Starts as working.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(Cell::new(State::Working))
    }

    /// The current state.
    pub fn get(&self) -> State {
        self.0.get()
    }
}

impl Stall {
    /// Starts with `workers` that work; all others are away.
    pub fn new(workers: usize) -> Self {
        Self {
            counts: AtomicU64::new(workers as u64 * AWAKE),
            changes: AtomicU64::new(0),
            starved: AtomicUsize::new(0),
            stuck: AtomicUsize::new(0),
        }
    }

    // ---- exact ----

    fn change(&self, by: u64) {
        // Ordering: Release: a thread that sees the caller rest sees the caller's earlier writes.
        self.counts.fetch_add(by, Ordering::Release);
        // Ordering: Release: a thread that sees this change sees the one above.
        self.changes.fetch_add(1, Ordering::Release);
        // Ordering: Release: a thread that sees any later write of the caller sees both changes.
        // Pairs with the fence in `all_rest`.
        fence(Ordering::Release);
    }

    /// The calling worker takes nothing until it [wakes](Stall::wakes).
    pub fn rests(&self, how: Rest) {
        self.change(how.change());
    }

    /// Ends the rest. Called before the worker takes anything.
    pub fn wakes(&self, how: Rest) {
        self.change(how.change().wrapping_neg());
    }

    /// A worker that was away is about to work. Called by a worker that works.
    pub fn comes(&self) {
        self.change(AWAKE);
    }

    /// The calling worker has no work and goes away.
    pub fn goes(&self) {
        self.change(AWAKE.wrapping_neg());
    }

    /// Whether at some moment of the call all other workers rest, none of them is notified, and
    /// `look` holds. `announced` returns the number of sleepers that are not notified. (A notified
    /// worker still counts as resting until it wakes and checks.)
    pub fn all_rest(&self, announced: impl FnOnce() -> usize, look: impl FnOnce() -> bool) -> bool {
        // No full fence is needed. `Aside::put` issued one before its caller looked for sleepers.
        // That was before this call, or before its caller rested. See `README.md`, "Out of stacks".
        // Ordering: Acquire, as in `change`; so below.
        let before = self.changes.load(Ordering::Acquire);
        let counts = self.counts.load(Ordering::Acquire);
        if counts % ASLEEP != AWAKE {
            return false;
        }
        let quiet = announced() == (counts / ASLEEP) as usize;
        if !quiet || !look() {
            return false;
        }
        // Ordering: Acquire: if `look` saw a write of a worker that woke, that worker's change is
        // visible here.
        fence(Ordering::Acquire);
        self.changes.load(Ordering::Relaxed) == before
    }

    // ---- hints ----

    /// Sets the calling worker's state to `state`.
    pub fn set(&self, own: &OwnState, state: State) {
        let before = own.0.replace(state);
        for (count, counted) in
            [(&self.starved, State::is_starved as fn(State) -> bool), (&self.stuck, is_stuck)]
        {
            // Ordering: Relaxed, hints that guard no data. The same holds below.
            match (counted(before), counted(state)) {
                (false, true) => _ = count.fetch_add(1, Ordering::Relaxed),
                (true, false) => _ = count.fetch_sub(1, Ordering::Relaxed),
                _ => {}
            }
        }
    }

    /// Whether some worker is starved.
    #[inline]
    pub fn any_starved(&self) -> bool {
        self.starved.load(Ordering::Relaxed) != 0
    }

    /// Whether some worker is stuck.
    #[inline]
    pub fn any_stuck(&self) -> bool {
        self.stuck.load(Ordering::Relaxed) != 0
    }
}

fn is_stuck(state: State) -> bool {
    state == State::Stuck
}
