//! Adapter for `parking_lot`: its mutex and condition variable, on threads.

use super::std::on_threads;
use crate::adapter::{Locks, PoolVisitor, Turns, Way};
use crate::error::Error;
use crate::experiment::{Group, Run, per_call};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::hint::black_box;
use std::ops::RangeInclusive;

/// Threads, on whatever core they come to.
pub(crate) struct ParkingLot;

const NAME: &str = "parking_lot";

impl Locks for ParkingLot {
    type Lock = Mutex<u64>;
    type Guard<'a> = MutexGuard<'a, u64>;
    type Condvar = Condvar;

    fn new() -> Mutex<u64> {
        Mutex::new(0)
    }

    fn lock(lock: &Mutex<u64>) -> MutexGuard<'_, u64> {
        lock.lock()
    }

    fn wait<'a>(condvar: &Condvar, mut guard: Self::Guard<'a>) -> Self::Guard<'a> {
        condvar.wait(&mut guard);
        guard
    }

    fn notify_one(condvar: &Condvar) {
        condvar.notify_one();
    }
}

impl Turns for ParkingLot {
    const NAME: &'static str = NAME;
    const WAYS: &'static [Way] = &[Way::Mutex, Way::Condvar];
    // Two threads, whatever the number of workers.
    const WORKERS: RangeInclusive<usize> = 2..=2;
    type Pool = ();

    fn build(_workers: usize) -> Result<(), Error> {
        Ok(())
    }

    fn hop((): &(), way: Way, hops: u64) -> u64 {
        on_threads::<Self>(way, hops)
    }
}

/// Adds the mutex to the figures of one that nobody else wants.
pub(crate) fn add_mutex(group: &mut Group, pairs: u32) {
    group.add(NAME, move || {
        let mutex = Mutex::new(());
        Ok(Run(move || per_call(pairs, || drop(black_box(&mutex).lock()))))
    });
}

/// Shows `visitor` our strategies behind its lock.
pub(crate) fn visit_pools(visitor: &mut impl PoolVisitor) {
    let _ = visitor;
}
