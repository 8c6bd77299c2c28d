//! Adapter for the standard library: threads, its mutex and condition variable.

use crate::adapter::{Between, Family, Guarded, GuardedVisitor, Locks, Turns, Way};
use crate::error::Error;
use crate::experiment::{Group, Run, per_call};
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock};
use std::thread;

/// Threads, on whatever core they come to.
pub(crate) struct Std;

const POISONED: &str = "nobody panics with the lock";

impl Locks for Std {
    type Lock = Mutex<u64>;
    type Guard<'a> = MutexGuard<'a, u64>;
    type Condvar = Condvar;

    fn new() -> Mutex<u64> {
        Mutex::new(0)
    }

    fn lock(lock: &Mutex<u64>) -> MutexGuard<'_, u64> {
        lock.lock().expect(POISONED)
    }

    fn wait<'a>(condvar: &Condvar, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        condvar.wait(guard).expect(POISONED)
    }

    fn notify_one(condvar: &Condvar) {
        condvar.notify_one();
    }
}

impl Turns for Std {
    const NAME: &'static str = "std";
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

/// [`Turns::hop`] by two threads over the locks of `L`.
pub(crate) fn on_threads<L: Locks>(way: Way, hops: u64) -> u64
where
    Between<L>: Send + Sync,
{
    let between = Arc::new(Between::<L>::default());
    let start = |me| {
        let between = Arc::clone(&between);
        thread::spawn(move || between.hop(way, me, hops / 2))
    };
    let both = [start(0), start(1)];
    both.into_iter().map(|t| t.join().expect("neither panics")).sum()
}

impl<T: Send + 'static> Guarded<T> for Mutex<T> {
    const NAME: &'static str = "std";

    fn new(value: T) -> Self {
        Self::new(value)
    }

    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.lock().expect(POISONED))
    }
}

impl<T: Send + Sync + 'static> Guarded<T> for RwLock<T> {
    const NAME: &'static str = "std";

    fn new(value: T) -> Self {
        Self::new(value)
    }

    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.write().expect(POISONED))
    }

    #[inline(always)]
    fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&RwLock::read(self).expect(POISONED))
    }
}

/// Shows `visitor` the locks of `family`.
pub(super) fn visit_guarded<T: Send + Sync + 'static>(
    family: Family,
    visitor: &mut impl GuardedVisitor<T>,
) {
    match family {
        Family::Adaptive => visitor.visit::<Mutex<T>>(),
        Family::ReadWrite => visitor.visit::<RwLock<T>>(),
        Family::Spinning | Family::Kernel => {}
    }
}

/// Adds the mutex to the figures of one that nobody else wants.
pub(crate) fn add_mutex(group: &mut Group, pairs: u32) {
    group.add("std", move || {
        let mutex = Mutex::new(());
        Ok(Run(move || per_call(pairs, || drop(black_box(&mutex).lock()))))
    });
}
