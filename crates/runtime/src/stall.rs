//! Who of the workers can start nothing: how a runtime out of stacks learns that it stands still.
//!
//! | state of a worker | means | leaves it |
//! |---|---|---|
//! | `Working` | anything else | itself, with work and no stack to start it on: to `Starved`; without work: to `Asleep` |
//! | `Starved` | it naps, and tries again | itself: to `Working` when it resumes a fiber; to `Stuck` |
//! | `Stuck` | it naps; it has seen all others starved or asleep, and could neither exceed the limit nor refuse anything | itself, as above |
//! | `Asleep` | it has a stack, and nothing to start on it | itself: to `Working` |
//!
//! Each worker changes its own state; the counts are for the others. They are hints: what is decided by them, an extra
//! stack or a refusal, is right at any time, and wanted only when nothing else helps.

use sateen_base::prim::{AtomicUsize, Ordering};
use std::cell::Cell;

/// See the [module's documentation](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Working,
    Starved,
    Stuck,
    Asleep,
}

impl State {
    /// Whether it lacks a stack.
    pub(crate) fn is_starved(self) -> bool {
        matches!(self, Self::Starved | Self::Stuck)
    }
}

/// How many workers are in each state.
#[derive(Debug)]
pub(crate) struct Stall([AtomicUsize; 4]);

/// A worker's own state.
#[derive(Debug)]
pub(crate) struct Mine(Cell<State>);

impl Mine {
    pub(crate) fn new() -> Self {
        Self(Cell::new(State::Working))
    }

    pub(crate) fn get(&self) -> State {
        self.0.get()
    }
}

impl Stall {
    /// All that will ever work do. (What is counted as working is not looked at.)
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicUsize::new(0)))
    }

    /// The calling worker's state is `state` from now on.
    pub(crate) fn set(&self, mine: &Mine, state: State) {
        let before = mine.0.replace(state);
        if before != state {
            // Ordering: Relaxed, hints that guard no data; so below.
            self.0[before as usize].fetch_sub(1, Ordering::Relaxed);
            self.0[state as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn count(&self, state: State) -> usize {
        self.0[state as usize].load(Ordering::Relaxed)
    }

    /// Whether some worker is starved.
    #[inline]
    pub(crate) fn any_starved(&self) -> bool {
        self.count(State::Starved) != 0 || self.any_stuck()
    }

    /// Whether some worker is stuck.
    #[inline]
    pub(crate) fn any_stuck(&self) -> bool {
        self.count(State::Stuck) != 0
    }

    /// Whether all of `workers` are starved or asleep.
    pub(crate) fn is_complete(&self, workers: usize) -> bool {
        let [starved, stuck, asleep] =
            [State::Starved, State::Stuck, State::Asleep].map(|state| self.count(state));
        starved + stuck + asleep >= workers
    }
}
