//! Adapter for `may`: coroutines with a guarded stack each.
//!
//! It has one scheduler for the process, which never ends, so each turn runs in a process of its
//! own. A guarded stack takes two memory maps, of which the system allows some 65,000, and a
//! coroutine that gets none panics. The library has no setting for that, so for more than 10,000
//! coroutines its processes load a library that leaves out the guards. Stacks have the default
//! size. For skynet the pool keeps as many as it needs, otherwise as many as by default.

use super::programs::{self, Recipe};
use crate::adapter::{
    Between, Crowd, Crowds, Environment, Form, Late, Locks, Release, Tasks, Turns, Way,
};
use crate::error::Error;
use crate::proc;
use may::sync::{Condvar, Mutex, MutexGuard, Semphore, SyncFlag};
use may::{coroutine, go};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Coroutines on `may`'s own workers.
pub(crate) struct May;

const NAME: &str = "may";
const CALM: &str = "no coroutine panics";

/// Above this number of coroutines their stacks have no guards.
const MOST_GUARDED: u64 = 10_000;
/// Memory of a stack. Each coroutine has one as soon as it is spawned.
const ROOM_OF_ONE: u64 = 16 * 1024;

/// See [`Tasks::environment`].
fn environment(coroutines: u64) -> Environment {
    if coroutines <= MOST_GUARDED {
        return || Ok(None);
    }
    if proc::available_memory().is_some_and(|bytes| coroutines * ROOM_OF_ONE > bytes / 2) {
        return || {
            let why = "stacks for so many coroutines would take more than half of the free memory";
            Err(Error::Absent(format!("may: {why}")))
        };
    }
    || Ok(Some(("LD_PRELOAD", programs::built(&NO_GUARDS)?.join("no_guards.so"))))
}

/// The library to be loaded first: see its source.
static NO_GUARDS: Recipe = Recipe {
    name: "A library that leaves out guards",
    packages: "gcc",
    sources: &[("no_guards.c", include_str!("../../../peers-src/no_guards.c"))],
    compile: || {
        programs::words(&["cc", "-O2", "-shared", "-fPIC", "-o", "no_guards.so", "no_guards.c"])
    },
    start: |_| Vec::new(),
};

/// Sets the number of workers, which takes effect until the first coroutine is started.
fn workers(workers: usize) -> Result<(), Error> {
    may::config().set_workers(workers);
    Ok(())
}

impl Tasks for May {
    const NAME: &'static str = NAME;
    const LINGERS: bool = true;
    const FORMS: &'static [Form] = &[Form::Join, Form::Suspend];
    type Pool = ();

    fn build(workers: usize) -> Result<(), Error> {
        self::workers(workers)
    }

    fn environment(tasks: u64) -> Environment {
        environment(tasks)
    }

    fn skynet((): &(), _form: Form, leaves: u64) -> u64 {
        if leaves > MOST_GUARDED {
            // Takes effect until the first coroutine is started. Inner nodes are a ninth of the
            // leaves.
            may::config().set_pool_capacity((leaves + leaves / 8) as usize);
        }
        go!(move || tree(0, leaves)).join().expect(CALM)
    }
}

/// Returns the sum of the ordinals of `leaves` leaves from `first`.
fn tree(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let tenth = leaves / 10;
    let children: [_; 10] =
        std::array::from_fn(|i| go!(move || tree(first + i as u64 * tenth, tenth)));
    children.into_iter().map(|c| c.join().expect(CALM)).sum()
}

impl Locks for May {
    type Lock = Mutex<u64>;
    type Guard<'a> = MutexGuard<'a, u64>;
    type Condvar = Condvar;

    fn new() -> Mutex<u64> {
        Mutex::new(0)
    }

    fn lock(lock: &Mutex<u64>) -> MutexGuard<'_, u64> {
        lock.lock().expect(CALM)
    }

    fn wait<'a>(condvar: &Condvar, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        condvar.wait(guard).expect(CALM)
    }

    fn notify_one(condvar: &Condvar) {
        condvar.notify_one();
    }
}

impl Turns for May {
    const NAME: &'static str = NAME;
    const LINGERS: bool = true;
    const WAYS: &'static [Way] = &[Way::Yield, Way::Mutex, Way::Condvar, Way::Event];
    type Pool = ();

    fn build(workers: usize) -> Result<(), Error> {
        self::workers(workers)
    }

    fn hop((): &(), way: Way, hops: u64) -> u64 {
        let times = hops / 2;
        match way {
            Way::Yield => pair(move |_| {
                (0..times).for_each(|_| coroutine::yield_now());
                times
            }),
            Way::Event => {
                // Its event works only once; a semaphore signals as often as needed.
                let signals = [Semphore::new(1), Semphore::new(0)];
                pair(move |me| {
                    for _ in 0..times {
                        signals[me].wait();
                        signals[1 - me].post();
                    }
                    times
                })
            }
            _ => {
                let between = Between::<Self>::default();
                pair(move |me| between.hop(way, me, times))
            }
        }
    }
}

/// Runs `each` in two coroutines with the numbers 0 and 1. Returns the sum of their results.
fn pair(each: impl Fn(usize) -> u64 + Send + Sync + 'static) -> u64 {
    let each = Arc::new(each);
    let start = |me| {
        let each = Arc::clone(&each);
        go!(move || each(me))
    };
    let both = [start(0), start(1)];
    both.into_iter().map(|c| c.join().expect(CALM)).sum()
}

impl Crowds for May {
    const NAME: &'static str = NAME;
    const LINGERS: bool = true;
    type Pool = ();

    fn build(workers: usize) -> Result<(), Error> {
        self::workers(workers)
    }

    fn environment(tasks: u64) -> Environment {
        environment(tasks)
    }

    fn gather(
        (): &(),
        crowd: &Arc<Crowd>,
        each: impl Fn() + Copy + Send + Sync + 'static,
    ) -> Release {
        let release = Arc::new(SyncFlag::new());
        let (theirs, crowd) = (Arc::clone(&release), Arc::clone(crowd));
        go!(move || {
            for _ in 0..crowd.size {
                let (release, crowd) = (Arc::clone(&theirs), Arc::clone(&crowd));
                go!(move || {
                    crowd.arrive();
                    release.wait();
                    each();
                    crowd.leave();
                });
            }
        });
        Box::new(move || release.fire())
    }

    fn sleep((): &(), spans: Vec<Duration>, late: &Arc<Late>) {
        let late = Arc::clone(late);
        go!(move || {
            for span in spans {
                let late = Arc::clone(&late);
                go!(move || {
                    let start = Instant::now();
                    coroutine::sleep(span);
                    late.report(span, start.elapsed());
                });
            }
        });
    }
}
