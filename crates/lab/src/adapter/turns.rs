//! Libraries in which two tasks, or threads, take turns.

use crate::error::Error;
use std::ops::{DerefMut, RangeInclusive};

/// How the turn is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Each yields to the other.
    Yield,
    /// Each takes the mutex that the other holds.
    Mutex,
    /// A word says whose turn it is; a condition variable says that it has changed.
    Condvar,
    /// Each waits for a signal of its own.
    Event,
}

/// A library with two tasks.
pub(crate) trait Turns: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Whether dropping the pool leaves threads behind. Each turn then runs in a process of its
    /// own.
    const LINGERS: bool = false;
    /// The ways that the library has.
    const WAYS: &'static [Way];
    /// The numbers of workers that make sense.
    const WORKERS: RangeInclusive<usize> = 1..=usize::MAX;
    /// Running workers; dropping it ends them.
    type Pool;

    /// Starts `workers` workers.
    ///
    /// # Errors
    /// A thread cannot be created.
    fn build(workers: usize) -> Result<Self::Pool, Error>;

    /// Lets two tasks hand the turn over `hops` times in all, an even number, in one of
    /// [`Turns::WAYS`]. Returns the number of times that they did.
    fn hop(pool: &Self::Pool, way: Way, hops: u64) -> u64;
}

/// Mutexes and condition variables in their usual form. The loops over them are the same for all
/// libraries.
pub(crate) trait Locks: 'static {
    type Lock;
    type Guard<'a>: DerefMut<Target = u64>;
    type Condvar: Default;

    /// Creates a mutex around 0.
    fn new() -> Self::Lock;
    fn lock(lock: &Self::Lock) -> Self::Guard<'_>;
    fn wait<'a>(condvar: &Self::Condvar, guard: Self::Guard<'a>) -> Self::Guard<'a>;
    fn notify_one(condvar: &Self::Condvar);
}

/// What the two tasks share.
pub(crate) struct Between<L: Locks> {
    ring: [L::Lock; 3],
    turn: L::Lock,
    changed: L::Condvar,
}

impl<L: Locks> Default for Between<L> {
    fn default() -> Self {
        Self {
            ring: [L::new(), L::new(), L::new()],
            turn: L::new(),
            changed: L::Condvar::default(),
        }
    }
}

impl<L: Locks> Between<L> {
    /// Runs the part of task `me` (0 or 1).
    pub(crate) fn hop(&self, way: Way, me: usize, times: u64) -> u64 {
        match way {
            Way::Mutex => self.by_mutex(me, times),
            _ => self.by_condvar(me as u64, times),
        }
    }

    /// Each task holds one of three mutexes, takes the next one of the ring, and releases the one
    /// behind.
    fn by_mutex(&self, me: usize, times: u64) -> u64 {
        let mut held = L::lock(&self.ring[me]);
        self.meet();
        for i in 1..=times {
            let next = L::lock(&self.ring[(me + i as usize) % 3]);
            drop(std::mem::replace(&mut held, next));
        }
        times
    }

    /// Waits until both tasks are here: until then neither is in the other's way.
    fn meet(&self) {
        let mut here = L::lock(&self.turn);
        *here += 1;
        L::notify_one(&self.changed);
        while *here < 2 {
            here = L::wait(&self.changed, here);
        }
    }

    fn by_condvar(&self, me: u64, times: u64) -> u64 {
        let mut turn = L::lock(&self.turn);
        for _ in 0..times {
            while *turn % 2 != me {
                turn = L::wait(&self.changed, turn);
            }
            *turn += 1;
            L::notify_one(&self.changed);
        }
        times
    }
}
