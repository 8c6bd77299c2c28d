//! A shed takes its memory once, and none at all in a buffer of the user's. This is a separate
//! program because it counts allocations.
#![cfg(not(any(loom, miri)))]

use sateen_shed::{Central, Layout, Outcome, Packed, Sharded, Shed, TaskId};
use std::alloc::{GlobalAlloc, Layout as Bytes, System};
use std::cell::Cell;
use std::mem::MaybeUninit;

struct Counting;

thread_local! {
    /// The count of this thread. The test harness allocates on other threads.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Bytes) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Bytes) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Bytes, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Bytes) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TASKS: usize = 128;

/// Fills the shed several times. Each task waits for the one before. Some tasks are cancelled, some
/// are freed, and one runs in two steps.
fn use_up<L: Layout>(shed: &Shed<usize, L>) {
    for _ in 0..10 {
        let mut ids = [TaskId::NONE; TASKS];
        assert_eq!(shed.create_all(&mut (0..), &mut ids), Ok(TASKS));
        assert_eq!(shed.create_some(&mut (0..), &mut [TaskId::NONE]), 0);
        for pair in ids[..100].windows(2) {
            shed.depend(&pair[1..], &pair[..1]).expect("an edge for each");
        }
        assert_eq!(shed.cancel(ids[90]), Ok(true));
        shed.free(&ids[100..]).expect("idle");
        shed.ready(&ids[..1]).expect("idle");
        let mut blocked = None;
        let mut ran = 0;
        loop {
            let step = |task, number: &mut usize| {
                ran += 1;
                if *number == 50 && blocked.is_none() {
                    blocked = Some(task);
                    Outcome::Blocked
                } else {
                    Outcome::Complete
                }
            };
            if shed.execute_batch(0, 7, step) == Ok(0) {
                break;
            }
            if let Some(task) = blocked {
                // This is refused once the task has run again.
                let _ = shed.ready(&[task]);
            }
        }
        assert_eq!(ran, 91);
    }
}

fn allocates_once<L: Layout>() {
    let before = ALLOCATIONS.get();
    let builder = || Shed::builder().tasks(TASKS as u64).dependencies(99).layout::<L>();
    let shed = builder().build().expect("small");
    use_up(&shed);
    assert_eq!(ALLOCATIONS.get() - before, 1, "{}", L::NAME);

    let size = Shed::<usize, L>::required_size(TASKS as u64, 99, 1).expect("small");
    let mut room = vec![MaybeUninit::uninit(); size + Shed::<usize, L>::ALIGN];
    let room = &mut room[..];
    let skip = room.as_ptr().align_offset(Shed::<usize, L>::ALIGN);
    let before = ALLOCATIONS.get();
    let shed = builder().build_in(&mut room[skip..]).expect("small");
    use_up(&shed);
    assert_eq!(ALLOCATIONS.get(), before, "{} in a buffer", L::NAME);
}

#[test]
fn a_shed_takes_its_memory_when_it_is_built() {
    // When a thread gets its number, the standard library allocates a list of what to do at the
    // thread's end.
    let shed = Shed::builder().tasks(1).build().expect("small");
    shed.execute_one(0, |_, ()| Outcome::Complete).expect("a channel");
    allocates_once::<Packed>();
    allocates_once::<Central>();
    allocates_once::<Sharded>();
}
