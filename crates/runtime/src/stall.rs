//! Which workers can start nothing: how a runtime out of stacks learns that it stands still.
//!
//! | a worker | means | moves on to |
//! |---|---|---|
//! | works | anything else | tries, with no stack to start work on; sleeps, with nothing to do |
//! | tries | it looks for a stack, and for fibers that can go on | works, or naps |
//! | naps | it found neither | tries, after 2 ms at most |
//! | sleeps | it has a stack, is announced in the event count, and takes nothing | works |
//! | is away | it is a substitute without a thread, or one that sleeps | works |
//!
//! Each worker moves itself on; the worker that recalls a substitute does so for it.
//!
//! | word | counts |
//! |---|---|
//! | `counts`, low half | workers that work or try |
//! | `counts`, high half | workers that sleep |
//! | `changes` | how often `counts` has changed; counted after the change, by the same thread |
//! | `starved` | workers that try or nap; a hint for reports |
//! | `stuck` | starved workers that know nothing more to do; a hint for reports |
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
    /// It does not.
    Working,
    /// It does: it tries and naps.
    Starved,
    /// It does, it has seen all others rest, and it could neither exceed the limit nor refuse
    /// anything.
    Stuck,
}

impl State {
    /// Whether it lacks a stack.
    pub fn is_starved(self) -> bool {
        self != Self::Working
    }
}

/// How a worker rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Without a stack.
    Nap,
    /// With one, and announced. The worker rests after it was announced, and wakes before it is
    /// announced again.
    Sleep,
}

impl Rest {
    /// What `counts` changes by.
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
    /// It works.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(Cell::new(State::Working))
    }

    /// The state.
    pub fn get(&self) -> State {
        self.0.get()
    }
}

impl Stall {
    /// `workers` work; all others are away.
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
        // Ordering: Release: a thread that sees the caller rest sees what the caller left behind.
        self.counts.fetch_add(by, Ordering::Release);
        // Ordering: Release: a thread that sees this change sees the one above.
        self.changes.fetch_add(1, Ordering::Release);
        // Ordering: Release: a thread that sees what the caller does next, by whatever access,
        // sees both changes. Pairs with the fence in `all_rest`.
        fence(Ordering::Release);
    }

    /// The calling worker takes nothing until it [wakes](Stall::wakes).
    pub fn rests(&self, how: Rest) {
        self.change(how.change());
    }

    /// It rests no more. Before it takes anything.
    pub fn wakes(&self, how: Rest) {
        self.change(how.change().wrapping_neg());
    }

    /// A worker that was away is about to work. The caller is a worker that works.
    pub fn comes(&self) {
        self.change(AWAKE);
    }

    /// A worker that has nothing goes away.
    pub fn goes(&self) {
        self.change(AWAKE.wrapping_neg());
    }

    /// Whether at some moment of the call all workers but the caller rest, none of them was
    /// notified, and `look` holds. `announced` counts those that sleep and were not notified. (A
    /// notified worker still rests for a while, and then looks.)
    pub fn all_rest(&self, announced: impl FnOnce() -> usize, look: impl FnOnce() -> bool) -> bool {
        // No full fence is needed: `Aside::put` has fenced before its caller looked for sleepers,
        // and that was before this call, or before its caller rested. See `README.md`, "Out of
        // stacks".
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
        // Ordering: Acquire: what `look` has seen of a worker that woke brings that worker's change
        // along.
        fence(Ordering::Acquire);
        self.changes.load(Ordering::Relaxed) == before
    }

    // ---- hints ----

    /// The calling worker's state is `state` from now on.
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
