//! Two tasks of `sateen` that take turns.

use super::runtime::{Sateen, runtime};
use crate::adapter::{Between, Locks, OURS, Turns, Way};
use crate::error::{Error, input};
use sateen::sync::{Condvar, Event, Mutex, MutexGuard, local};
use sateen::{CurrentThread, Runtime};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

impl Locks for Sateen {
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

impl Turns for Sateen {
    const NAME: &'static str = OURS;
    const WAYS: &'static [Way] = &[Way::Yield, Way::Mutex, Way::Condvar, Way::Event];
    type Pool = Runtime;

    fn build(workers: usize) -> Result<Runtime, Error> {
        runtime(workers)
    }

    fn hop(pool: &Runtime, way: Way, hops: u64) -> u64 {
        let times = hops / 2;
        match way {
            Way::Yield => pair(pool, move |_| {
                (0..times).for_each(|_| sateen::yield_now());
                times
            }),
            Way::Event => {
                let events = <[Event; 2]>::default();
                events[0].set();
                pair(pool, move |me| by_event(&events, me, times))
            }
            _ => {
                let between = Between::<Self>::default();
                pair(pool, move |me| between.hop(way, me, times))
            }
        }
    }
}

/// Runs `each` in two tasks with the numbers 0 and 1. Returns the sum of their results.
fn pair(pool: &Runtime, each: impl Fn(usize) -> u64 + Send + Sync + 'static) -> u64 {
    let each = Arc::new(each);
    let start = |me| {
        let each = Arc::clone(&each);
        pool.spawn(move || each(me))
    };
    let both = [start(0), start(1)];
    both.into_iter().map(|task| task.join().expect("neither panics")).sum()
}

/// Waits for its own event, resets it, and sets the other's.
fn by_event(events: &[Event; 2], me: usize, times: u64) -> u64 {
    for _ in 0..times {
        events[me].wait();
        events[me].reset();
        events[1 - me].set();
    }
    times
}

/// A runtime of one thread, with the locks and events of one thread.
pub(crate) struct Local;

impl Locks for Local {
    type Lock = local::Mutex<u64>;
    type Guard<'a> = local::MutexGuard<'a, u64>;
    type Condvar = local::Condvar;

    fn new() -> local::Mutex<u64> {
        local::Mutex::new(0)
    }

    fn lock(lock: &local::Mutex<u64>) -> local::MutexGuard<'_, u64> {
        lock.lock()
    }

    fn wait<'a>(condvar: &local::Condvar, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        condvar.wait(guard)
    }

    fn notify_one(condvar: &local::Condvar) {
        condvar.notify_one();
    }
}

impl Turns for Local {
    const NAME: &'static str = "sateen-local";
    const WORKERS: RangeInclusive<usize> = 1..=1;
    const WAYS: &'static [Way] = &[Way::Yield, Way::Mutex, Way::Condvar, Way::Event];
    type Pool = CurrentThread;

    fn build(_workers: usize) -> Result<CurrentThread, Error> {
        Runtime::current_thread().map_err(|e| input(e.to_string()))
    }

    fn hop(pool: &CurrentThread, way: Way, hops: u64) -> u64 {
        let times = hops / 2;
        match way {
            Way::Yield => local_pair(pool, move |_| {
                (0..times).for_each(|_| sateen::yield_now());
                times
            }),
            Way::Event => {
                let events = <[local::Event; 2]>::default();
                events[0].set();
                local_pair(pool, move |me| {
                    for _ in 0..times {
                        events[me].wait();
                        events[me].reset();
                        events[1 - me].set();
                    }
                    times
                })
            }
            _ => {
                let between = Between::<Self>::default();
                local_pair(pool, move |me| between.hop(way, me, times))
            }
        }
    }
}

/// As [`pair`], on one thread.
fn local_pair(pool: &CurrentThread, each: impl Fn(usize) -> u64 + 'static) -> u64 {
    let each = Rc::new(each);
    pool.run(|| {
        let both = [0, 1].map(|me| {
            let each = Rc::clone(&each);
            sateen::spawn_local(move || each(me))
        });
        both.into_iter().map(|task| task.join().expect("neither panics")).sum()
    })
}
