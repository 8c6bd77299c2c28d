//! Threads that build graphs of numbered tasks and execute each other's tasks.

use super::common::room;
use sateen_base::{CachePadded, XorShift};
use sateen_shed::{Error, Layout, Outcome, Shed, TaskId, TaskState};
use std::cell::Cell;
use std::ops::{AddAssign, Range};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};

/// A payload whose drops are counted.
pub(crate) trait Item: Default + Send + 'static {
    fn new(number: u32) -> Self;
    fn check(&self, number: u32);
}

thread_local! {
    static DROPS: Cell<u64> = const { Cell::new(0) };
}

fn count_drop() {
    DROPS.set(DROPS.get() + 1);
}

macro_rules! counted {
    ($($name:ident),*) => { $(
        impl Drop for $name {
            fn drop(&mut self) {
                count_drop();
            }
        }
    )* };
}
counted!(Owned, Zero, Large);

#[derive(Default)]
pub(crate) struct Owned(Box<u32>);

#[derive(Default)]
pub(crate) struct Zero;

#[derive(Default)]
pub(crate) struct Large([u64; 32]);

impl Item for Owned {
    fn new(number: u32) -> Self {
        Self(Box::new(number))
    }

    fn check(&self, number: u32) {
        assert_eq!(*self.0, number);
    }
}

impl Item for Zero {
    fn new(_: u32) -> Self {
        Self
    }

    fn check(&self, _: u32) {}
}

impl Item for Large {
    fn new(number: u32) -> Self {
        Self([number.into(); 32])
    }

    fn check(&self, number: u32) {
        assert_eq!(self.0, [u64::from(number); 32]);
    }
}

/// How many tasks ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    created: u64,
    completed: u64,
    cancelled: u64,
    freed: u64,
    dropped: u64,
    blocked: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.created += other.created;
        self.completed += other.completed;
        self.cancelled += other.cancelled;
        self.freed += other.freed;
        self.dropped += other.dropped;
        self.blocked += other.blocked;
    }
}

/// The fates of a task.
const OPEN: u8 = 0;
const DONE: u8 = 1;
const CANCELLED: u8 = 2;
/// The task is freed or about to be, unless it is cancelled.
const FREED: u8 = 3;

/// How many tasks a thread creates together. The next constant is the number of batches whose first
/// tasks it does not make ready yet.
const BATCH: usize = 8;
const KEPT: usize = 4;
const CHANNELS: u16 = 3;
/// Stands in `needs` where there is no predecessor.
const NONE: u32 = u32::MAX;

/// What is known of the task in a slot. The thread that created it writes this.
struct Slot {
    number: AtomicU32,
    needs: [AtomicU32; 3],
}

struct World {
    /// Indexed by the task's number.
    fate: Box<[AtomicU8]>,
    /// Indexed by the slot.
    slots: Box<[Slot]>,
    /// For each thread, a task on which others may depend, or which they may cancel.
    board: Box<[CachePadded<AtomicU64>]>,
    /// Tasks that block. Any thread may wake them.
    blocked: [CachePadded<AtomicU64>; 16],
    cancelled: AtomicU64,
    building: AtomicU32,
    /// Set when a thread has found something wrong, so that the others end.
    failed: AtomicBool,
}

impl World {
    fn slot(&self, task: TaskId) -> &Slot {
        &self.slots[task.to_bits() as u32 as usize]
    }

    fn fate(&self, number: u32) -> &AtomicU8 {
        &self.fate[number as usize]
    }
}

/// Tells the others when a thread panics.
struct Failing<'a>(&'a World);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Relaxed);
        }
    }
}

struct Expected;

/// Runs `tasks` tasks in all, on this many threads.
pub(crate) fn stress<T: Item, L: Layout>(threads: u32, tasks: u32) -> Counts {
    let capacity = threads * (BATCH * (KEPT + 4)) as u32;
    let none = || AtomicU64::new(TaskId::NONE.to_bits());
    let world = Arc::new(World {
        fate: (0..tasks).map(|_| AtomicU8::new(OPEN)).collect(),
        slots: (0..capacity)
            .map(|_| Slot { number: AtomicU32::new(0), needs: [0; 3].map(AtomicU32::new) })
            .collect(),
        board: (0..threads).map(|_| CachePadded::new(none())).collect(),
        blocked: [(); 16].map(|()| CachePadded::new(none())),
        cancelled: AtomicU64::new(0),
        building: AtomicU32::new(threads),
        failed: AtomicBool::new(false),
    });
    let told = Arc::clone(&world);
    let shed: Shed<T, L> = Shed::builder()
        .tasks(capacity.into())
        .dependencies(u64::from(capacity) * 6)
        .channels(CHANNELS.into())
        .on_cancel(move |task, payload: &mut T| {
            let number = told.slot(task).number.load(Relaxed);
            payload.check(number);
            let before = told.fate(number).swap(CANCELLED, Relaxed);
            assert!(before == OPEN || before == FREED, "{number} was {before}");
            told.cancelled.fetch_add(1, Relaxed);
        })
        .layout::<L>()
        .build()
        .expect("small");
    let mut counts = Counts::default();
    std::thread::scope(|s| {
        let shares = (0..threads).map(|thread| {
            let share = |thread| (u64::from(tasks) * u64::from(thread) / u64::from(threads)) as u32;
            share(thread)..share(thread + 1)
        });
        let workers: Vec<_> = (0..threads)
            .zip(shares)
            .map(|(thread, numbers)| {
                let (shed, world) = (&shed, &*world);
                s.spawn(move || Worker::new(shed, world, thread).work(numbers))
            })
            .collect();
        workers.into_iter().for_each(|worker| counts += worker.join().expect("no panic"));
    });
    counts.cancelled = world.cancelled.load(Relaxed);
    assert_eq!(counts.created, u64::from(tasks));
    assert_eq!(counts.completed + counts.cancelled + counts.freed, counts.created, "{counts:?}");
    assert_eq!(counts.dropped, counts.created);
    assert_eq!(room(&shed), (capacity as usize, capacity as usize * 6));
    for (kind, count) in [(DONE, counts.completed), (CANCELLED, counts.cancelled)] {
        let fates = world.fate.iter().filter(|fate| fate.load(Relaxed) == kind);
        assert_eq!(fates.count() as u64, count);
    }
    counts
}

/// Tasks that were created together.
#[derive(Clone, Copy)]
struct Batch {
    tasks: [TaskId; BATCH],
    count: usize,
}

struct Worker<'a, T, L: Layout> {
    shed: &'a Shed<T, L>,
    world: &'a World,
    thread: u32,
    random: XorShift,
    kept: [Option<Batch>; KEPT],
    counts: Counts,
}

impl<'a, T: Item, L: Layout> Worker<'a, T, L> {
    fn new(shed: &'a Shed<T, L>, world: &'a World, thread: u32) -> Self {
        let random = XorShift::new(u64::from(thread) + 1);
        let kept = [None; KEPT];
        Self { shed, world, thread, random, kept, counts: Counts::default() }
    }

    fn work(mut self, numbers: Range<u32>) -> Counts {
        let mut next = numbers.start;
        let mut slot = 0;
        let _failing = Failing(self.world);
        while next < numbers.end && !self.world.failed.load(Relaxed) {
            self.let_go(slot);
            let count = BATCH.min((numbers.end - next) as usize);
            match self.build(next, count) {
                Some(batch) => {
                    self.kept[slot] = Some(batch);
                    next += count as u32;
                    self.disturb(batch.tasks[0]);
                }
                // The shed is full. Other threads may wait for tasks that this thread holds back.
                None => (0..KEPT).for_each(|slot| self.let_go(slot)),
            }
            slot = (slot + 1) % KEPT;
            self.execute();
        }
        (0..KEPT).for_each(|slot| self.let_go(slot));
        self.world.building.fetch_sub(1, Release);
        loop {
            let last = self.world.building.load(Acquire) == 0;
            let (woken, ran) = (self.wake_all(), self.execute());
            // The threads that still execute tasks finish those themselves.
            if last && !woken && !ran || self.world.failed.load(Relaxed) {
                break;
            }
        }
        self.counts.dropped = DROPS.get();
        self.counts
    }

    /// Creates a batch whose tasks wait for each other and for a task of another thread.
    fn build(&mut self, first: u32, count: usize) -> Option<Batch> {
        let (shed, world) = (self.shed, self.world);
        let mut batch = Batch { tasks: [TaskId::NONE; BATCH], count };
        let mut payloads = (first..).map(T::new);
        shed.create_all(&mut payloads, &mut batch.tasks[..count]).ok()?;
        self.counts.created += count as u64;
        let tasks = &batch.tasks[..count];
        for (number, &task) in (first..).zip(tasks) {
            let slot = world.slot(task);
            slot.number.store(number, Relaxed);
            slot.needs.iter().for_each(|need| need.store(NONE, Relaxed));
        }
        // Tasks that cannot run before this thread lets go of the batch. They may be cancelled.
        let mut anchored = [false; BATCH];
        for (i, &task) in tasks.iter().enumerate() {
            if self.random.below(3) == 0 {
                shed.set_channel(&[task], self.random.below(CHANNELS.into()) as u16).expect("idle");
            }
            let mut predecessors = [TaskId::NONE; 3];
            let mut own = 0;
            for _ in 0..if i == 0 { 0 } else { self.random.below(3) } {
                let predecessor = self.random.below(i);
                if anchored[predecessor] {
                    own += 1;
                    predecessors[own] = tasks[predecessor];
                }
            }
            let needs = &world.slot(task).needs;
            let need = |i: usize, predecessor: TaskId| {
                needs[i].store(world.slot(predecessor).number.load(Relaxed), Relaxed);
            };
            (1..=own).for_each(|i| need(i, predecessors[i]));
            let mut done = false;
            if self.random.below(4) == 0 {
                predecessors[0] = self.foreign();
                if predecessors[0] != TaskId::NONE {
                    need(0, predecessors[0]);
                    done = shed.depend(&[task], &predecessors[..=own]).is_ok();
                }
            }
            if done {
                anchored[i] = own > 0;
                continue;
            }
            // The task may wait for some of this batch already. Then it waits for these twice.
            needs[0].store(NONE, Relaxed);
            anchored[i] = shed.depend(&[task], &predecessors[1..=own]).is_ok();
            if !anchored[i] {
                // One of the predecessors was cancelled, so this task depends on none.
                needs.iter().for_each(|need| need.store(NONE, Relaxed));
            }
        }
        Some(batch)
    }

    /// The task that some thread shows to others.
    fn foreign(&mut self) -> TaskId {
        let board = &self.world.board[self.random.below(self.world.board.len())];
        TaskId::from_bits(board.load(Acquire))
    }

    /// Shows a task that waits for none of this thread's tasks and is not freed. Now and then
    /// cancels another thread's task.
    fn disturb(&mut self, shown: TaskId) {
        self.world.board[self.thread as usize].store(shown.to_bits(), Release);
        if self.random.below(32) == 0 {
            let task = self.foreign();
            let answer = self.shed.cancel(task);
            assert!(matches!(
                answer,
                Ok(_) | Err(Error::StaleTask(_) | Error::Cancelled(_) | Error::UnknownTask(_))
            ));
        }
    }

    /// Makes tasks ready that were held back, or frees some of them.
    fn let_go(&mut self, slot: usize) {
        let Some(batch) = self.kept[slot].take() else { return };
        let (mut first, mut count) = ([TaskId::NONE; BATCH], 0);
        for (i, &task) in batch.tasks[..batch.count].iter().enumerate() {
            // An idle task stays idle until this thread readies it or another one cancels it.
            if self.shed.state(task) != Ok(TaskState::Idle) {
                continue;
            }
            // Other tasks may depend on the first one. Freeing it would leave them idle for ever.
            if i > 0 && self.random.below(16) == 0 {
                self.free(task);
            } else {
                (first[count], count) = (task, count + 1);
            }
        }
        if self.shed.ready(&first[..count]).is_err() {
            // Some of them were cancelled.
            first[..count].iter().for_each(|task| wake(self.shed, *task));
        }
        // Tasks that waited only for a freed task are left idle.
        for &task in &batch.tasks[..batch.count] {
            if self.shed.state(task) == Ok(TaskState::Idle) {
                wake(self.shed, task);
            }
        }
    }

    fn free(&mut self, task: TaskId) {
        let number = self.world.slot(task).number.load(Relaxed);
        let fate = self.world.fate(number);
        if fate.compare_exchange(OPEN, FREED, Relaxed, Relaxed).is_ok() {
            match self.shed.free(&[task]) {
                Ok(()) => self.counts.freed += 1,
                Err(error) => assert!(matches!(error, Error::StaleTask(_) | Error::Cancelled(_))),
            }
        }
    }

    /// Wakes a task that blocks.
    fn wake(&self, slot: &AtomicU64) -> bool {
        if slot.load(Relaxed) == TaskId::NONE.to_bits() {
            return false;
        }
        let task = TaskId::from_bits(slot.swap(TaskId::NONE.to_bits(), Acquire));
        if task != TaskId::NONE {
            wake(self.shed, task);
        }
        task != TaskId::NONE
    }

    fn wake_all(&self) -> bool {
        self.world.blocked.iter().fold(false, |woken, slot| self.wake(slot) | woken)
    }

    /// Executes some of the ready tasks. Returns whether there were any.
    fn execute(&mut self) -> bool {
        let slot = self.random.below(self.world.blocked.len());
        let mut any = self.wake(&self.world.blocked[slot]);
        let preferred = self.random.below(CHANNELS.into()) as u16;
        for channel in 0..CHANNELS {
            let channel = (channel + preferred) % CHANNELS;
            let (shed, world) = (self.shed, self.world);
            let (random, counts) = (&mut self.random, &mut self.counts);
            let most = 1 + random.below(8) as u32;
            let before = counts.completed + counts.blocked;
            let ran = catch_unwind(AssertUnwindSafe(|| {
                if most == 1 {
                    let run =
                        |task, payload: &mut T| run(shed, world, random, counts, task, payload);
                    shed.execute_one(channel, run).expect("a channel").is_some()
                } else {
                    let run =
                        |task, payload: &mut T| run(shed, world, random, counts, task, payload);
                    shed.execute_batch(channel, most, run).expect("a channel") > 0
                }
            }));
            any |= match ran {
                Ok(ran) => ran,
                Err(panic) if panic.is::<Expected>() => true,
                Err(panic) => resume_unwind(panic),
            };
            any |= before != self.counts.completed + self.counts.blocked;
        }
        any
    }
}

/// Makes a task ready that no other thread makes ready. It may have been cancelled.
#[track_caller]
fn wake<T, L: Layout>(shed: &Shed<T, L>, task: TaskId) {
    match shed.ready(&[task]) {
        Ok(()) | Err(Error::StaleTask(_) | Error::Cancelled(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

/// What a task does.
fn run<T: Item, L: Layout>(
    shed: &Shed<T, L>,
    world: &World,
    random: &mut XorShift,
    counts: &mut Counts,
    task: TaskId,
    payload: &mut T,
) -> Outcome {
    let slot = world.slot(task);
    let number = slot.number.load(Relaxed);
    payload.check(number);
    for need in &slot.needs {
        let need = need.load(Relaxed);
        if need != NONE {
            let fate = world.fate(need).load(Relaxed);
            assert!(fate == DONE || fate == FREED, "{number} runs, {need} is {fate}");
        }
    }
    match random.below(1024) {
        0..64 => {
            counts.blocked += 1;
            // The thread that takes the name may be faster than this one.
            let slot = &world.blocked[random.below(world.blocked.len())];
            let before = TaskId::from_bits(slot.swap(task.to_bits(), Release));
            if before != TaskId::NONE {
                wake(shed, before);
            }
            Outcome::Blocked
        }
        64 => resume_unwind(Box::new(Expected)),
        _ => {
            let before = world.fate(number).swap(DONE, Relaxed);
            assert_eq!(before, OPEN, "{number}");
            counts.completed += 1;
            Outcome::Complete
        }
    }
}
