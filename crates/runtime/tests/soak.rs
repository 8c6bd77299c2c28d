//! Random blocking, cancelling and panicking for a while. Every item is there afterwards.
//!
//! `SATEEN_SOAK_SECONDS` says for how long, 2 by default.

use sateen_runtime::policy::{self, Scheduling};
use sateen_runtime::{
    CancelToken, JoinError, JoinHandle, Priority, Runtime, Spawn, fiber_local, fork, join, scope,
    spawn, yield_now,
};
use sateen_sync::{Event, Mutex, park, timer};
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const ITEMS: u64 = 1000;
const BOXES: usize = 16;

/// A small generator: good enough, and without dependencies.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn child(&mut self) -> Self {
        Self(self.next() | 1)
    }
}

/// The items that tasks move.
struct World {
    boxes: [Mutex<Vec<u64>>; BOXES],
    /// The main thread sets and resets this again and again.
    bell: Event,
    destroyed: AtomicU64,
    made: AtomicU64,
}

/// An item on its way. Wherever the task ends, the item returns to a box.
struct Carried<'a> {
    world: &'a World,
    item: u64,
    to: usize,
}

impl Drop for Carried<'_> {
    fn drop(&mut self) {
        // This may wait, even in the middle of an unwinding, but must not be cancelled meanwhile.
        park::uninterrupted(|| self.world.boxes[self.to].lock().push(self.item));
    }
}

struct Local(Arc<World>);

impl Drop for Local {
    fn drop(&mut self) {
        self.0.destroyed.fetch_add(1, Relaxed);
    }
}

fiber_local! {
    static LOCALS: RefCell<Vec<Local>> = RefCell::new(Vec::new());
}

impl World {
    fn new() -> Self {
        let world = Self {
            boxes: Default::default(),
            bell: Event::new(),
            destroyed: AtomicU64::new(0),
            made: AtomicU64::new(0),
        };
        (0..ITEMS).for_each(|item| world.boxes[item as usize % BOXES].lock().push(item));
        world
    }

    fn carry(&self, random: &mut Random) -> Option<Carried<'_>> {
        let from = random.below(BOXES as u64) as usize;
        let item = self.boxes[from].lock().pop()?;
        Some(Carried { world: self, item, to: random.below(BOXES as u64) as usize })
    }

    /// Waits in one of the possible ways.
    fn dawdle(&self, random: &mut Random) {
        match random.below(8) {
            0 => self.bell.wait(),
            1 => timer::sleep(Duration::from_micros(random.below(300))),
            2 => {
                let _guard = self.boxes[random.below(BOXES as u64) as usize].lock();
                yield_now();
            }
            3 if random.below(20) == 0 => resume_unwind(Box::new("soak")),
            _ => yield_now(),
        }
    }

    fn work(self: &Arc<Self>, depth: u32, mut random: Random) {
        if random.below(4) == 0 {
            self.made.fetch_add(1, Relaxed);
            LOCALS.with(|locals| locals.borrow_mut().push(Local(Arc::clone(self))));
        }
        let carried = self.carry(&mut random);
        self.dawdle(&mut random);
        if depth > 0 {
            self.nest(depth - 1, &mut random);
        }
        let second = self.carry(&mut random);
        self.dawdle(&mut random);
        drop(carried);
        drop(second);
    }

    /// Does several things, in one of the possible ways.
    fn nest(self: &Arc<Self>, depth: u32, random: &mut Random) {
        let (mut a, mut b, c) = (random.child(), random.child(), random.child());
        let branch = |random: &mut Random| {
            let carried = self.carry(random);
            self.dawdle(random);
            drop(carried);
        };
        match random.below(5) {
            0 => _ = join(|| branch(&mut a), || branch(&mut b)),
            1 => _ = fork([a, b, c].map(|mut random| move || branch(&mut random))),
            2 => scope(|s| {
                for mut random in [a, b, c] {
                    s.spawn(move |_| branch(&mut random));
                }
            }),
            3 => {
                let task = spawn({
                    let world = Arc::clone(self);
                    move || world.work(depth, a)
                });
                branch(&mut b);
                if b.below(3) == 0 {
                    task.cancel();
                }
                check(task.join());
            }
            _ => {
                let world = Arc::clone(self);
                drop(settings(&mut b).detach(move || world.work(depth, a)));
            }
        }
    }
}

fn settings(random: &mut Random) -> Spawn {
    let spawn = Spawn::new();
    match random.below(6) {
        0 => spawn.name("soaked"),
        1 => spawn.priority(Priority::High),
        2 => spawn.priority(Priority::Low),
        3 => spawn.stack_size(512 * 1024),
        4 => spawn.dispatch(),
        _ => spawn,
    }
}

fn check(result: Result<(), JoinError>) -> [u64; 3] {
    match result {
        Ok(()) => [1, 0, 0],
        Err(JoinError::Cancelled) => [0, 1, 0],
        Err(JoinError::Panicked(payload)) => {
            assert_eq!(payload.downcast_ref(), Some(&"soak"), "an assertion failed in a task");
            [0, 0, 1]
        }
        Err(error) => panic!("{error}"),
    }
}

fn soak(workers: usize, policy: Scheduling, seed: u64, time: Duration) -> [u64; 3] {
    let runtime = Runtime::builder().workers(workers).policy(policy).build().expect("a runtime");
    let (world, mut random) = (Arc::new(World::new()), Random(seed | 1));
    let mut ends = [0; 3];
    let mut count = |task: JoinHandle<()>| {
        for (sum, one) in ends.iter_mut().zip(check(task.join())) {
            *sum += one;
        }
    };
    let until = Instant::now() + time;
    while Instant::now() < until {
        let token = CancelToken::new();
        let tasks: Vec<_> = (0..100)
            .map(|i| {
                let (world, own) = (Arc::clone(&world), random.child());
                let settings = match i % 10 {
                    0 => settings(&mut random).on_worker(i % workers),
                    1 | 2 => settings(&mut random).token(&token),
                    _ => settings(&mut random),
                };
                runtime.spawn_with(settings, move || world.work(2, own))
            })
            .collect();
        for task in &tasks {
            match random.below(5) {
                0 => task.cancel(),
                1 => {
                    world.bell.set();
                    world.bell.reset();
                }
                _ => {}
            }
        }
        token.cancel();
        // Lets every task go that waits for the bell or will wait for it.
        world.bell.set();
        tasks.into_iter().for_each(&mut count);
        world.bell.reset();
    }
    world.bell.set();
    runtime.shutdown().expect("an orderly end");
    let mut items: Vec<_> = world.boxes.iter().flat_map(|items| items.lock().clone()).collect();
    items.sort_unstable();
    assert!(items.iter().copied().eq(0..ITEMS), "{} items instead of {ITEMS}", items.len());
    assert_eq!(world.made.load(Relaxed), world.destroyed.load(Relaxed), "fiber-locals");
    assert_eq!(Arc::strong_count(&world), 1, "a task's closure was leaked");
    ends
}

#[test]
fn everything_is_conserved() {
    let seconds = std::env::var("SATEEN_SOAK_SECONDS").map_or(2.0, |s| s.parse().expect("seconds"));
    let policies = [policy::work_stealing, policy::work_sharing, policy::round_robin];
    let counts = [1, 2, 3, 8];
    let runs = (policies.len() * counts.len()) as u32;
    let time = Duration::from_secs_f64(seconds) / runs;
    let mut ends = [0; 3];
    for (i, policy) in policies.into_iter().enumerate() {
        for (j, workers) in counts.into_iter().enumerate() {
            let seed = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul((i * 10 + j + 1) as u64);
            let some = soak(workers, policy(), seed, time);
            ends.iter_mut().zip(some).for_each(|(sum, one)| *sum += one);
        }
    }
    let [ended, cancelled, panicked] = ends;
    println!("{ended} tasks ended, {cancelled} were cancelled, {panicked} panicked");
    assert!(ends.iter().all(|&count| count > 0));
}
