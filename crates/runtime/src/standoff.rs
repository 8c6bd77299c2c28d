//! Standoffs: workers that wait in a cycle for calls into each other's runtimes.
//!
//! In a runtime that [keeps threads](crate::Builder::keep_threads), a worker that waits runs only
//! work that is [under its wait](crate::help). Say two runtimes have one worker each, and each
//! worker calls the other runtime. Neither call is under the other's wait, and no other worker can
//! run it.
//!
//! This module detects such cycles and lets one worker run a call anyway. The call may then hang on
//! a lock that a frame below holds, but without it the program would hang in any case.
//!
//! A worker that has waited for a while registers its wait while it sleeps. One lock guards all
//! lists. Proof: `README.md`, "Standoffs".

use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::help;
use crate::runtime::CalledJob;
use crate::scope;
use crate::shared::Shared;
use crate::task::Running;
use crate::worker::Owner;
use sateen_base::os::PerProcess;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A fiber's record of its current wait.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Patience {
    /// When it first slept in this wait; 0 for never. It has run nothing since.
    since: u64,
    /// When it last looked for work in vain before sleeping.
    looked: u64,
    /// The addresses of what it waits for.
    pieces: (usize, usize),
}

impl Patience {
    /// Records that the wait is for `pieces`. Different pieces begin a new wait.
    pub(crate) fn waits_for(&mut self, pieces: &Range<usize>) {
        let pieces = (pieces.start, pieces.end);
        if self.pieces != pieces {
            *self = Self { pieces, ..Self::default() };
        }
    }
}

/// The address of a worker's runtime, and its index.
type Place = (usize, usize);

/// A worker that sleeps in a wait.
#[derive(Debug)]
struct Wait {
    place: Place,
    since: u64,
    /// When it looked in vain before its last look.
    looked: u64,
    /// The pieces that it waits for. Each has yet to run to its end.
    pieces: Range<usize>,
    /// The innermost activation that runs here, linked to the outer ones.
    running: *const Running,
    /// The address of the runtime that runs the pieces, and its number of workers. `None` if
    /// substitutes may add more.
    target: (usize, Option<usize>),
    /// Workers of that runtime with a piece in their pinned queue.
    posted: Vec<usize>,
}

// SAFETY: other threads read only fields of running activations that never change, and only while
// the worker cannot proceed.
unsafe impl Send for Wait {}

#[derive(Debug, Default)]
struct Waits {
    waits: Vec<Wait>,
    /// The last logical time issued.
    now: u64,
}

/// Runs `f` with all waits of this process.
fn with<R>(f: impl FnOnce(&mut Waits) -> R) -> R {
    static WAITS: PerProcess<Mutex<Waits>> = PerProcess::new();
    f(&mut WAITS.get(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner))
}

fn place(worker: &Owner) -> Place {
    (std::ptr::from_ref(&**worker.shared()).addr(), worker.index())
}

/// Registers the caller, which found nothing to help with and sleeps next, until it
/// [leaves](leave). It waits for work that runs on `target`. In a standoff the caller may `take`
/// something to run; then it does not count as waiting.
pub(crate) fn enter<T>(
    worker: &Owner,
    fiber: &Fiber,
    target: &Shared,
    patience: Patience,
    take: impl FnOnce() -> Option<T>,
) -> (Patience, Option<T>) {
    let pieces = patience.pieces.0..patience.pieces.1;
    let mine = |entry: Entry| match entry.decode() {
        // SAFETY: the queue keeps what it holds.
        Work::Here(job) => pieces.contains(&unsafe { CalledJob::piece_of(job) }),
        // SAFETY: as above.
        Work::Scoped(job) => pieces.contains(&unsafe { scope::piece_of(job) }),
        _ => false,
    };
    let regular = target.workers.regular().iter();
    let posted = regular.filter(|worker| worker.has_posted(mine)).map(|worker| worker.index());
    let workers = (target.substitutes.count() == 0).then_some(target.regular);
    let wait = Wait {
        place: place(worker),
        since: 0,
        looked: 0,
        posted: posted.collect(),
        pieces,
        running: fiber.running(),
        target: (std::ptr::from_ref(target).addr(), workers),
    };
    with(|waits| {
        let (patience, stands) = waits.enter(wait, patience);
        let taken = if stands { take() } else { None };
        if taken.is_some() {
            waits.leave(place(worker));
        }
        (patience, taken)
    })
}

/// Unregisters the caller, which no longer sleeps.
pub(crate) fn leave(worker: &Owner) {
    with(|waits| waits.leave(place(worker)));
}

impl Wait {
    /// Whether one of its pieces may be startable only by workers that wait.
    fn may_lack_a_worker(&self) -> bool {
        self.target.1.is_some() || !self.posted.is_empty()
    }

    /// Whether an activation that runs at the worker is one of `pieces`, or under one.
    fn runs_one_of(&self, pieces: &Range<usize>) -> bool {
        let mut running = self.running;
        while !running.is_null() {
            // SAFETY: the worker sleeps below these frames until it has left. Each caller waits for
            // what it has called.
            if unsafe { help::leads_to(running, pieces) } {
                return true;
            }
            // SAFETY: as above.
            running = unsafe { (*running).outer };
        }
        false
    }
}

impl Waits {
    fn enter(&mut self, mut wait: Wait, mut patience: Patience) -> (Patience, bool) {
        self.now += 1;
        if patience.since == 0 {
            patience.since = self.now;
        }
        (wait.since, wait.looked) = (patience.since, patience.looked);
        patience.looked = self.now;
        self.waits.push(wait);
        (patience, self.last_stands())
    }

    fn leave(&mut self, place: Place) {
        self.waits.retain(|wait| wait.place != place);
    }

    /// Whether the newest wait is part of a cycle of waits, none of which can end. Each wait of the
    /// cycle must have looked for work twice since the newest of them began. So none has missed an
    /// end.
    fn last_stands(&self) -> bool {
        let Some(last) = self.waits.len().checked_sub(1) else { return false };
        // A running piece was called by its waiter, so a cycle needs a piece that has not started.
        // With substitutes there may be hundreds of waits, but no such piece.
        if !self.waits.iter().any(Wait::may_lack_a_worker) {
            return false;
        }
        let mut stand: Vec<usize> = (0..=last).collect();
        loop {
            let before = stand.len();
            let held = |&wait: &usize| self.is_held(&self.waits[wait], &stand);
            let left: Vec<usize> = stand.iter().copied().filter(held).collect();
            if !left.contains(&last) {
                return false;
            }
            stand = left;
            if stand.len() == before {
                break;
            }
        }
        let waits = || stand.iter().map(|&wait| &self.waits[wait]);
        let begun = waits().map(|wait| wait.since).max();
        waits().map(|wait| Some(wait.looked)).min() > Some(begun)
    }

    /// Whether `wait` cannot end unless one of the waits in `stand` does.
    fn is_held(&self, wait: &Wait, stand: &[usize]) -> bool {
        let stands = |place: Place| stand.iter().any(|&wait| self.waits[wait].place == place);
        let (home, workers) = wait.target;
        // All workers that could run a piece.
        workers.is_some_and(|workers| (0..workers).all(|index| stands((home, index))))
            // The one worker that must run a piece.
            || wait.posted.iter().any(|&index| stands((home, index)))
            // A worker that runs a piece.
            || stand.iter().any(|&other| self.waits[other].runs_one_of(&wait.pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::{Patience, Place, Wait, Waits};

    /// Enters for the worker at `place`, which waits for one of `workers` of runtime `target`.
    fn enter(
        waits: &mut Waits,
        (place, target): (Place, usize),
        posted: &[usize],
        patience: &mut Patience,
    ) -> bool {
        waits.leave(place);
        // Runtimes have as many workers as their number says.
        let wait = Wait {
            place,
            since: 0,
            looked: 0,
            pieces: 0..0,
            running: std::ptr::null(),
            target: (target, (target != 9).then_some(target)),
            posted: posted.to_vec(),
        };
        let (after, stands) = waits.enter(wait, *patience);
        *patience = after;
        stands
    }

    /// Each of `all` enters in turn. Returns in which round, from 1, one finds a standoff.
    fn rounds(all: &[((Place, usize), &[usize])]) -> Option<usize> {
        let (mut waits, mut patience) = (Waits::default(), vec![Patience::default(); all.len()]);
        (1..10).find(|_| {
            all.iter()
                .zip(&mut patience)
                .any(|(&(from, posted), patience)| enter(&mut waits, from, posted, patience))
        })
    }

    #[test]
    fn waits_in_a_circle_are_found() {
        // The first look is as old as the wait.
        assert_eq!(rounds(&[(((1, 0), 1), &[])]), Some(3));
        let circle: [((Place, usize), &[usize]); 3] =
            [(((2, 0), 1), &[]), (((2, 1), 1), &[]), (((1, 0), 2), &[])];
        assert_eq!(rounds(&circle), Some(3));
    }

    #[test]
    fn a_worker_that_does_not_wait_ends_it() {
        assert_eq!(rounds(&[(((2, 0), 1), &[]), (((1, 0), 2), &[])]), None);
        assert_eq!(rounds(&[(((1, 0), 5), &[])]), None);
        // Runtime 9 has substitutes.
        assert_eq!(rounds(&[(((1, 0), 9), &[]), (((9, 0), 1), &[])]), None);
    }

    #[test]
    fn one_worker_of_several_is_waited_for() {
        // Others of the two runtimes are free.
        assert_eq!(rounds(&[(((7, 3), 8), &[0, 5]), (((8, 5), 7), &[3])]), Some(3));
        assert_eq!(rounds(&[(((7, 3), 8), &[5]), (((8, 5), 7), &[])]), None);
    }

    #[test]
    fn a_wait_that_begins_anew_counts_from_there() {
        let (mut waits, mut patience) = (Waits::default(), [Patience::default(); 2]);
        for round in 1..100 {
            let [mine, other] = &mut patience;
            assert!(!enter(&mut waits, ((2, 0), 2), &[], mine), "round {round}");
            // The other has run something between any two of its sleeps.
            *other = Patience::default();
            assert!(!enter(&mut waits, ((2, 1), 2), &[], other), "round {round}");
        }
    }
}
