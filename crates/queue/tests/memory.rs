//! Memory goes back as the queue drains.
#![cfg(not(any(loom, miri)))]

use sateen_queue::mpmc::Unbounded;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Bytes that this thread has allocated and not freed.
    static IN_USE: Cell<isize> = const { Cell::new(0) };
}

fn in_use() -> isize {
    IN_USE.get()
}

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.set(IN_USE.get() + layout.size() as isize);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.set(IN_USE.get() - layout.size() as isize);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Batches that readers hold are given back beside others that are forgotten.
#[test]
fn a_segment_is_given_back_beside_forgotten_ones() {
    let before = in_use();
    let queue = Unbounded::<u64>::new();
    queue.push(0).unwrap();
    queue.pop().unwrap();
    let segment = in_use() - before;
    let pass_a_segment = || {
        (0..63).for_each(|i| queue.push(i).unwrap());
        (0..63).for_each(|_| _ = queue.pop().unwrap());
    };
    let batches = if cfg!(miri) { 40 } else { 1_000 };
    let mut held = Vec::with_capacity(batches);
    for i in 0..2 * batches {
        (0..63).for_each(|i| queue.push(i).unwrap());
        let batch = queue.pop_batch(1).unwrap();
        (0..62).for_each(|_| _ = queue.pop().unwrap());
        if i % 2 == 0 {
            std::mem::forget(batch);
        } else {
            held.push(batch);
        }
    }
    let most = in_use();
    drop(held);
    // The next look is due after eight times as many segments as the last one found.
    (0..8 * 2 * batches).for_each(|_| pass_a_segment());
    let left = in_use() - before;
    let kept = (batches as isize + 2 + 32) * segment;
    assert!(left <= kept, "{left} bytes left of {most}: {segment} a segment");
    drop(queue);
    // The forgotten batches lie in segments of the queue, and go with it.
    assert_eq!(in_use(), before);
}

#[test]
fn a_drained_queue_holds_few_segments_and_a_dropped_one_none() {
    let before = in_use();
    let queue = Unbounded::<u64>::new();
    assert_eq!(in_use(), before, "memory for a queue that nobody has used");
    queue.push(0).unwrap();
    queue.pop().unwrap();
    let segment = in_use() - before;
    for _ in 0..3 {
        for i in 0..100_000 {
            queue.push(i).unwrap();
        }
        let full = in_use() - before;
        assert!(full >= 100_000 * 8, "{full} bytes hold 100,000 items");
        while queue.pop().is_ok() {}
        let drained = in_use() - before;
        // The one in use, and 32 spares.
        assert!(drained <= 33 * segment, "{drained} bytes kept, a segment is {segment}");
    }
    // A steady flow allocates nothing: a drained segment is the next one.
    queue.push(0).unwrap();
    let steady = in_use();
    for i in 0..10_000 {
        queue.push(i).unwrap();
        queue.pop().unwrap();
    }
    assert_eq!(in_use(), steady);
    drop(queue);
    assert_eq!(in_use(), before);
}
