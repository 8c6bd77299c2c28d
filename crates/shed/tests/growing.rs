//! Sheds that take more memory when they are full.
#![cfg(not(loom))]

use sateen_shed::{
    BuildError, Central, Error, Growing, Layout, Outcome, Packed, Sharded, Shed, TaskId, TaskState,
};
use std::alloc::{GlobalAlloc, Layout as Bytes, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

thread_local! {
    /// Blocks that are larger than this are refused on this thread.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

struct Limited;

// SAFETY: passes every call on to the system's allocator, or reports that there is no memory.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Bytes) -> *mut u8 {
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Bytes) -> *mut u8 {
        if layout.size() > LIMIT.get() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Bytes) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

type Grown<T> = Shed<T, Growing>;

fn small<T>() -> Grown<T> {
    Shed::builder().tasks(1).dependencies(0).growing().build().expect("small")
}

#[test]
fn names_hold_while_the_shed_grows() {
    const TASKS: usize = if cfg!(miri) { 20 } else { 1000 };
    const CAPACITY: usize = TASKS.next_power_of_two();
    let shed = small();
    assert_eq!(shed.capacity(), 1);
    let mut tasks: Vec<TaskId> = vec![];
    for number in 0..TASKS {
        tasks.extend(shed.create([number]).expect("it grows"));
        shed.set_tag(&tasks[number..], number as u64 % 10).expect("idle");
    }
    assert_eq!(shed.capacity() as usize, CAPACITY);
    assert!(tasks.iter().all(|&task| shed.state(task) == Ok(TaskState::Idle)));
    assert_eq!(shed.tag(tasks[TASKS - 7]), Ok(Some(3)));
    assert_eq!(shed.count_tag(3) as usize, TASKS / 10);
    assert_eq!(shed.cancel_tag(3) as usize, TASKS / 10);
    for pair in
        tasks.iter().filter(|task| shed.state(**task).is_ok()).collect::<Vec<_>>().windows(2)
    {
        shed.depend(&[*pair[0]], &[*pair[1]]).expect("it grows");
    }
    shed.ready(&tasks[TASKS - 1..]).expect("idle");
    let mut last = TASKS;
    while shed.execute_one(0, |_, number| {
        assert!(*number < last && *number % 10 != 3);
        last = *number;
        Outcome::Complete
    }) != Ok(None)
    {}
    assert_eq!(last, 0);
    let again = shed.create([0; CAPACITY]).expect("all slots are free again");
    assert_eq!(shed.capacity() as usize, CAPACITY);
    shed.depend(&again[..1], &again[1..]).expect("it grows");
}

#[test]
fn names_of_slots_to_come_are_unknown() {
    let shed = small();
    let [task] = shed.create([0]).expect("room");
    for index in [1, 2, 1 << 20, u32::MAX - 1] {
        let wrong = TaskId::from_bits(task.to_bits() & !0xFFFF_FFFF | u64::from(index));
        assert_eq!(shed.state(wrong), Err(Error::UnknownTask(wrong)));
    }
}

#[test]
fn memory_has_an_end() {
    let shed = small();
    shed.create([0; 4]).expect("it grows");
    LIMIT.set(1000);
    let full = shed.create([0; 1000]).expect_err("no memory");
    assert_eq!((full.asked, shed.capacity()), (1000, full.capacity));
    let [task] = shed.create([0]).expect("room");
    LIMIT.set(usize::MAX);
    assert!(shed.create([0; 1000]).is_ok());
    assert_eq!(shed.state(task), Ok(TaskState::Idle));
}

#[test]
fn a_given_buffer_does_not_grow() {
    let mut room = [];
    let shed = Shed::<u8>::builder().growing().build_in(&mut room);
    assert_eq!(shed.err(), Some(BuildError::CannotGrow));
}

#[test]
fn payloads_in_all_blocks_are_dropped() {
    let counter = std::rc::Rc::new(());
    let shed = small();
    for _ in 0..100 {
        shed.create([counter.clone()]).expect("it grows");
    }
    drop(shed);
    assert_eq!(std::rc::Rc::strong_count(&counter), 1);
}

#[test]
fn a_copy_is_as_large_as_the_shed_has_become() {
    let mut shed = small();
    shed.ready(&shed.create([1]).expect("room")).expect("idle");
    let early = shed.snapshot();
    let more = shed.create([2; 40]).expect("it grows");
    shed.depend(&more[..1], &more[1..]).expect("it grows");
    shed.ready(&more[1..]).expect("idle");
    let late = shed.snapshot();
    let run = |shed: &Grown<u32>| {
        let (mut ran, mut sum) = (0, 0);
        while let Ok(1..) = shed.execute_batch(0, 3, |_, n| {
            (ran, sum) = (ran + 1, sum + *n);
            Outcome::Complete
        }) {}
        (ran, sum)
    };
    assert_eq!(run(&late.to_shed().expect("small")), (41, 81));
    assert_eq!(run(&shed), (41, 81));
    shed.restore(&early).expect("it has become larger");
    assert_eq!(run(&shed), (1, 1));
    shed.create([0; 64]).expect("as large as before");
    assert!(early.to_shed().expect("small").restore(&late).is_err());
}

/// Many threads grow the shed at once. Each task is executed once, after its predecessors.
fn many_threads<L: Layout>() {
    const THREADS: u64 = 4;
    const EACH: u64 = if cfg!(miri) { 3 } else { 5_000 };
    let builder = Shed::builder().tasks(2).dependencies(1).layout::<L>().growing();
    let shed = builder.build().expect("small");
    let (done, sum) = (AtomicU64::new(0), AtomicU64::new(0));
    /// Tells the other threads not to wait for a thread that has failed.
    struct Fails<'a>(&'a AtomicU64);
    impl Drop for Fails<'_> {
        fn drop(&mut self) {
            if thread::panicking() {
                self.0.store(1 << 32, Ordering::Relaxed);
            }
        }
    }
    thread::scope(|s| {
        for first in 0..THREADS {
            let (shed, done, sum) = (&shed, &done, &sum);
            s.spawn(move || {
                let _fails = Fails(done);
                let mut before = None;
                for i in 0..EACH {
                    let [task, predecessor] = shed.create([first * EACH + i, 0]).expect("it grows");
                    shed.depend(&[task], &[predecessor]).expect("it grows");
                    let ready = before.replace(predecessor);
                    shed.ready(ready.as_slice()).expect("idle");
                }
                shed.ready(before.as_slice()).expect("idle");
                while done.load(Ordering::Relaxed) < 2 * THREADS * EACH {
                    let run = |_: TaskId, n: &mut u64| {
                        sum.fetch_add(*n, Ordering::Relaxed);
                        done.fetch_add(1, Ordering::Relaxed);
                        Outcome::Complete
                    };
                    if shed.execute_batch(0, 8, run) == Ok(0) {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    let all = THREADS * EACH;
    assert_eq!((done.into_inner(), sum.into_inner()), (2 * all, all * (all - 1) / 2));
    assert!(u64::from(shed.capacity()) <= 4 * all);
}

#[test]
fn many_threads_grow_a_shed_at_once() {
    many_threads::<Packed>();
    many_threads::<Central>();
    many_threads::<Sharded>();
}
