//! Every primitive of `sateen::sync` between tasks and threads, some of them cancelled.

use super::World;
use crate::error::{Error, expect};
use crate::soak::faults::Kind;
use sateen::sync::park::uninterrupted;
use sateen::sync::{Barrier, Condvar, Event, Mutex, ReentrantMutex, RwLock, Semaphore, oneshot};
use sateen::{JoinHandle, yield_now};
use sateen_base::XorShift;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const TASKS: usize = 8;
const STEPS: usize = 400;
const PERMITS: usize = 3;

/// What the tasks of a round share. The two halves of each pair are equal while no task holds its
/// lock.
struct Shared {
    mutex: Mutex<[u64; 2]>,
    rwlock: RwLock<[u64; 2]>,
    reentrant: ReentrantMutex<[Cell<u64>; 2]>,
    semaphore: Semaphore,
    /// How many tasks have a permit.
    inside: AtomicU64,
    /// Tokens that pass through the condition variable.
    tokens: Mutex<u64>,
    filled: Condvar,
    bell: Event,
    /// Steps done with each lock.
    done: [AtomicU64; 3],
    broken: AtomicU64,
}

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        round(world, &mut random)?;
        barrier(world, &mut random)?;
    }
    Ok(())
}

fn round(world: &World<'_>, random: &mut XorShift) -> Result<(), Error> {
    let shared = Arc::new(Shared {
        mutex: Mutex::default(),
        rwlock: RwLock::default(),
        reentrant: ReentrantMutex::new([Cell::new(0), Cell::new(0)]),
        semaphore: Semaphore::new(PERMITS),
        inside: AtomicU64::new(0),
        tokens: Mutex::new(0),
        filled: Condvar::new(),
        bell: Event::new(),
        done: Default::default(),
        broken: AtomicU64::new(0),
    });
    let mut own = || {
        let (shared, mut random) = (Arc::clone(&shared), XorShift::new(random.next_u64()));
        move || (0..STEPS).for_each(|_| shared.step(&mut random))
    };
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(own())).collect();
    let tasks: Vec<JoinHandle<()>> = (0..TASKS).map(|_| world.runtime.spawn(own())).collect();
    tasks[random.below(TASKS)].cancel();
    for task in tasks {
        world.ended(task.join())?;
    }
    for thread in threads {
        thread.join().map_err(|_| Error::Wrong("a thread at a lock panicked".to_owned()))?;
    }
    let [mutexes, rwlocks, reentrants] = [0, 1, 2].map(|i| shared.done[i].load(Relaxed));
    expect("broken promises of locks", shared.broken.load(Relaxed), 0)?;
    expect("steps under a mutex", *shared.mutex.lock(), [mutexes; 2])?;
    expect("steps under a rwlock", *shared.rwlock.read(), [rwlocks; 2])?;
    let held = shared.reentrant.lock();
    expect("steps under a reentrant mutex", held.each_ref().map(Cell::get), [reentrants; 2])?;
    expect("permits given back", shared.semaphore.available_permits(), PERMITS)?;
    world.ledger.did((STEPS * (TASKS + 2)) as u64);
    Ok(())
}

impl Shared {
    /// Notes a broken promise.
    fn check(&self, holds: bool) {
        self.broken.fetch_add(u64::from(!holds), Relaxed);
    }

    /// Raises both halves, and lets others run in between.
    fn raise(&self, pair: &mut [u64; 2], random: &mut XorShift) {
        self.check(pair[0] == pair[1]);
        pair[0] += 1;
        if random.below(8) == 0 {
            uninterrupted(yield_now);
        }
        pair[1] += 1;
    }

    fn step(&self, random: &mut XorShift) {
        let short = Duration::from_micros(random.below(100) as u64);
        match random.below(8) {
            0 | 1 => {
                let mut pair = self.mutex.lock();
                self.raise(&mut pair, random);
                self.done[0].fetch_add(1, Relaxed);
            }
            2 => {
                let Some(mut pair) = self.rwlock.try_write_for(short) else { return };
                self.raise(&mut pair, random);
                self.done[1].fetch_add(1, Relaxed);
            }
            3 => {
                let pair = self.rwlock.read();
                self.check(pair[0] == pair[1]);
                if random.below(8) == 0 {
                    uninterrupted(yield_now);
                }
                self.check(pair[0] == pair[1]);
            }
            4 => {
                let outer = self.reentrant.lock();
                let inner = self.reentrant.lock();
                self.check(inner[0].get() == inner[1].get());
                outer[0].set(outer[0].get() + 1);
                if random.below(8) == 0 {
                    uninterrupted(yield_now);
                }
                inner[1].set(inner[1].get() + 1);
                self.done[2].fetch_add(1, Relaxed);
            }
            5 => {
                let Ok(_permit) = self.semaphore.acquire(1) else { return };
                let inside = self.inside.fetch_add(1, Relaxed);
                self.check(inside < PERMITS as u64);
                if random.below(8) == 0 {
                    uninterrupted(yield_now);
                }
                self.inside.fetch_sub(1, Relaxed);
            }
            6 => self.tokens(random, short),
            _ => {
                if random.below(2) == 0 {
                    self.bell.wait_timeout(short);
                } else {
                    self.bell.set();
                    self.bell.reset();
                }
            }
        }
    }

    /// Brings a token, or waits for one for a while.
    fn tokens(&self, random: &mut XorShift, short: Duration) {
        let mut tokens = self.tokens.lock();
        if random.below(2) == 0 {
            *tokens += 1;
            drop(tokens);
            self.filled.notify_one();
        } else {
            let waited = self.filled.wait_while_for(&mut tokens, |tokens| *tokens == 0, short);
            if !waited.timed_out() {
                self.check(*tokens > 0);
                *tokens -= 1;
            }
        }
    }
}

/// Runs tasks that meet at a barrier, and promises that each of them keeps.
fn barrier(world: &World<'_>, random: &mut XorShift) -> Result<(), Error> {
    let (parties, turns) = (2 + random.below(5), 20);
    let barrier = Arc::new(Barrier::new(parties));
    let leaders = Arc::new(AtomicU64::new(0));
    let (tasks, promises): (Vec<JoinHandle<()>>, Vec<_>) = (0..parties)
        .map(|i| {
            let (sender, receiver) = oneshot::channel();
            let (barrier, leaders) = (Arc::clone(&barrier), Arc::clone(&leaders));
            let task = world.runtime.spawn(move || {
                for _ in 0..turns {
                    leaders.fetch_add(u64::from(barrier.wait().is_leader()), Relaxed);
                }
                _ = sender.send(i);
            });
            (task, receiver)
        })
        .unzip();
    let refused = world.may_fail(&[Kind::Memory]);
    if refused {
        // A task without a stack never arrives: let the others go.
        tasks.iter().for_each(JoinHandle::cancel);
    }
    for (i, promise) in promises.into_iter().enumerate() {
        let kept = promise.recv();
        expect("a promise", refused || kept == Ok(i), true)?;
    }
    for task in tasks {
        world.ended(task.join())?;
    }
    expect("leaders of a barrier", refused || leaders.load(Relaxed) == turns, true)?;
    world.ledger.did(turns * parties as u64);
    Ok(())
}
