//! Models of the search for fibers that wait for each other. Each cycle that is reported exists,
//! and each cycle that exists is reported.
#![cfg(loom)]

use loom::cell::Cell;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicBool, AtomicU64};
use loom::sync::{Arc, Mutex, Notify};
use loom::thread;
use sateen_runtime::models::cycles::{Seen, find, is_seen_again};
use sateen_testkit::model;

const FREE: u64 = u64::MAX;

/// A mutex as a survey sees it: whether it is held, and by which fiber.
struct Lock {
    held: AtomicBool,
    owner: AtomicU64,
}

/// What a fiber waits for, and since when. The fiber's thread holds the lock of this while the
/// fiber runs. So a survey looks only at suspended fibers, as a job on their workers does.
#[derive(Clone, Copy)]
struct Wait {
    lock: usize,
    since: u64,
}

struct World {
    locks: [Lock; 2],
    fibers: [Mutex<Option<Wait>>; 2],
    wakers: [Notify; 2],
}

impl World {
    /// Each fiber owns the lock with its number.
    fn new() -> Arc<Self> {
        let lock = |owner| Lock { held: AtomicBool::new(true), owner: AtomicU64::new(owner) };
        Arc::new(Self {
            locks: [lock(0), lock(1)],
            fibers: [Mutex::new(None), Mutex::new(None)],
            wakers: [Notify::new(), Notify::new()],
        })
    }

    fn try_lock(&self, me: usize, lock: usize) -> bool {
        let lock = &self.locks[lock];
        let taken = lock.held.compare_exchange(false, true, AcqRel, Relaxed).is_ok();
        if taken {
            lock.owner.store(me as u64, Relaxed);
        }
        taken
    }

    fn unlock(&self, lock: usize) {
        // In this model no newcomer is late to sign the lock as its own.
        self.locks[lock].owner.store(FREE, Relaxed);
        self.locks[lock].held.store(false, Release);
        self.wakers.iter().for_each(Notify::notify);
    }

    fn survey(&self) -> Vec<Seen> {
        let look = |fiber: usize| {
            let wait = *self.fibers[fiber].lock().unwrap();
            let owner = wait.and_then(|wait| {
                let lock = &self.locks[wait.lock];
                let owner = lock.held.load(Acquire).then(|| lock.owner.load(Relaxed));
                owner.filter(|&owner| owner != FREE)
            });
            Seen { id: fiber as u64, since: wait.map_or(0, |wait| wait.since), owner }
        };
        [0, 1].map(look).to_vec()
    }

    /// Reports as `Report::take` does. Returns how many cycles it reports.
    fn report(&self) -> usize {
        let first = self.survey();
        let cycles = find(&first);
        if cycles.is_empty() {
            return 0;
        }
        let again = self.survey();
        let members = |cycle: &[usize]| cycle.iter().map(|&i| first[i]).collect::<Vec<_>>();
        cycles.iter().filter(|cycle| is_seen_again(&members(cycle), &again)).count()
    }
}

/// A fiber that runs on its own thread.
struct Fiber<'a> {
    world: &'a World,
    me: usize,
    waits: Cell<u64>,
}

impl Fiber<'_> {
    /// Waits for `lock` and then holds it.
    fn lock(&self, lock: usize) {
        let since = self.waits.get() + 1;
        self.waits.set(since);
        loop {
            let mut here = self.world.fibers[self.me].lock().unwrap();
            if self.world.try_lock(self.me, lock) {
                *here = None;
                return;
            }
            // From here on the fiber is suspended in this wait, which goes on after a spurious
            // wake-up.
            *here = Some(Wait { lock, since });
            drop(here);
            self.world.wakers[self.me].wait();
        }
    }
}

/// One fiber waits for the other, and later the other waits for it, but never both at once.
#[test]
fn what_was_never_a_circle_is_not_told() {
    model(3, || {
        let world = World::new();
        let first = thread::spawn({
            let world = Arc::clone(&world);
            move || {
                let fiber = Fiber { world: &world, me: 0, waits: Cell::new(0) };
                fiber.lock(1);
                world.unlock(1);
                world.unlock(0);
            }
        });
        let second = thread::spawn({
            let world = Arc::clone(&world);
            move || {
                let fiber = Fiber { world: &world, me: 1, waits: Cell::new(0) };
                world.unlock(1);
                fiber.lock(0);
                world.unlock(0);
            }
        });
        assert_eq!(world.report(), 0, "told, though it was not so");
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// Each fiber waits for the other. The cycle is reported once both wait, however many spurious
/// wake-ups there are. Then one gives up.
#[test]
fn a_circle_is_told() {
    model(2, || {
        let world = World::new();
        let fibers = [0, 1].map(|me| {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let fiber = Fiber { world: &world, me, waits: Cell::new(0) };
                fiber.lock(1 - me);
                world.unlock(1 - me);
            })
        });
        world.wakers[0].notify();
        let both_wait = world.fibers.iter().all(|fiber| fiber.lock().unwrap().is_some());
        let told = world.report();
        assert!(!both_wait || told == 1, "not told, though both wait for ever");
        // This releases locks that belong to the fibers.
        world.unlock(0);
        world.unlock(1);
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}
