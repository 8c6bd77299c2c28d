//! A pool allocates nothing once it is made. This is a separate program because it counts
//! allocations.
#![cfg(not(any(loom, miri)))]

use sateen_pool::{BlockPool, LockFreeTree, Magazine, Strategy};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

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
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's contract.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn works_without<S: Strategy>() {
    let before = ALLOCATIONS.get();
    let pool = BlockPool::<S>::new(5000, 24, 8).expect("memory");
    let mut held = Vec::with_capacity(pool.capacity());
    let made = ALLOCATIONS.get();
    assert!((1..6).contains(&(made - before)), "{} allocations for a pool", made - before);
    for _ in 0..3 {
        held.extend(std::iter::from_fn(|| pool.take()));
        assert_eq!(held.len(), 5000);
        for block in held.drain(..) {
            // SAFETY: the block was taken above and is not used.
            unsafe { pool.give(block) };
        }
    }
    assert_eq!(pool.in_use(), 0);
    assert_eq!(ALLOCATIONS.get(), made, "{} allocated", S::NAME);
}

#[test]
fn a_pool_takes_its_memory_when_it_is_made() {
    works_without::<LockFreeTree>();
    works_without::<Magazine>();
}
