//! Adapter for `parking_lot`: its mutex and condition variable, on threads.

use super::std::on_threads;
use crate::adapter::{LockKind, Locks, Turns, Way};
use crate::blocks::{ParkingLot as RawLock, Raw};
use crate::error::Error;
use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
use std::ops::RangeInclusive;

/// Threads, on any core.
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

impl LockKind for ParkingLot {
    const NAME: &'static str = NAME;
    type Of<T: Send> = Mutex<T>;

    fn new<T: Send>(value: T) -> Mutex<T> {
        Mutex::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &Mutex<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.lock())
    }
}

/// Its reader-writer lock.
pub(crate) struct ParkingLotRwLock;

impl LockKind for ParkingLotRwLock {
    const NAME: &'static str = "parking_lot-rwlock";
    type Of<T: Send> = RwLock<T>;

    fn new<T: Send>(value: T) -> RwLock<T> {
        RwLock::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &RwLock<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.write())
    }

    #[inline(always)]
    fn read<T: Send + Sync, R>(lock: &RwLock<T>, f: impl FnOnce(&T) -> R) -> R {
        f(&lock.read())
    }
}

// Our strategies behind its lock.
pub(crate) type LockedFlags = Raw<crate::exhibits::pools::LockedFlags<RawLock>>;
pub(crate) type LockedBits = Raw<crate::exhibits::pools::LockedBits<RawLock>>;
pub(crate) type LockedTree = Raw<crate::exhibits::pools::LockedTree<RawLock>>;
