//! After its construction a pool asks for no memory, however it is used, unless it may grow.
#![cfg(not(any(loom, miri)))]

use sateen_pool::{Growth, LockFreeTree, Magazine, Pool, PoolBox, Strategy};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// The allocations of this thread. Other threads allocate as they like.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: by the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: by the caller's contract.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(f: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}

/// The memory mappings of this process. A pool's memory does not come from the allocator.
fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count())
}

fn use_it<S: Strategy>(pool: &Pool<[u64; 4], S>) {
    for _ in 0..3 {
        let mut held: [Option<PoolBox<'_, [u64; 4], S>>; 100] = [const { None }; 100];
        for (n, cell) in held.iter_mut().enumerate() {
            *cell = pool.try_alloc([n as u64; 4]).ok();
        }
        assert!(held.iter().all(Option::is_some) && pool.try_alloc([0; 4]).is_err());
        let keys = held.map(|held| held.map(PoolBox::into_key));
        assert!(pool.insert([0; 4]).is_err() && pool.stats().in_use == 100);
        for (n, key) in keys.into_iter().flatten().enumerate() {
            assert_eq!(pool.get(key).map(|entry| entry[0]), Some(n as u64));
            assert!(pool.remove(key));
        }
    }
}

fn none_after_construction<S: Strategy + Send + Sync>() {
    let pool = Pool::<[u64; 4], S>::new(100).expect("memory");
    assert_eq!(allocations(|| use_it(&pool)), 0, "{}", S::NAME);
    let counts = std::thread::scope(|s| {
        let worker = s.spawn(|| (allocations(|| use_it(&pool)), allocations(|| use_it(&pool))));
        worker.join().expect("no panic")
    });
    assert_eq!(counts, (0, 0), "{}", S::NAME);
}

#[test]
fn no_allocation_after_construction() {
    none_after_construction::<LockFreeTree>();
    none_after_construction::<Magazine>();

    // Growth takes its memory once.
    let pool = Pool::<[u64; 4]>::builder(25).grow(Growth::Doubling, 100).build().expect("memory");
    assert!(allocations(|| use_it(&pool)) > 0);
    assert_eq!((allocations(|| use_it(&pool)), pool.capacity()), (0, 100));

    // When a pool is dropped, all of its memory goes. The tolerance is for what else this process
    // maps.
    let before = mappings();
    for _ in 0..50 {
        let pool = Pool::<[u64; 4]>::builder(25).grow(Growth::Fixed(25), 100).build();
        use_it(&pool.expect("memory"));
    }
    assert!(mappings() < before + 10, "{before} mappings became {}", mappings());
}

/// Sizes at the ends of their range are errors, and do not end the process.
#[test]
fn capacities_of_any_size() {
    use sateen_pool::{BlockPool, Growth, LockFreeTree, Magazine, Pool};
    let large = usize::try_from(1_u64 << 33).unwrap_or(1 << 31);
    for capacity in [0, large, usize::MAX / 2 + 1, usize::MAX] {
        assert!(Pool::<()>::new(capacity).is_err());
        assert!(Pool::<[u8; 4096]>::new(capacity).is_err());
        assert!(BlockPool::<Magazine>::new(capacity, 1, 1).is_err());
        assert!(BlockPool::<LockFreeTree>::new(capacity, 1, 1).is_err());
        for growth in [Growth::Doubling, Growth::Fixed(capacity)] {
            let most = usize::MAX;
            assert!(Pool::<u8>::builder(capacity).grow(growth, most).build().is_err());
            let built = Pool::<u8>::builder(1).grow(growth, capacity).build();
            // With 32-bit addresses each limit on growth can be numbered.
            assert!(built.is_err() || usize::BITS < 64, "{growth:?} {capacity}");
        }
    }
    let pool = Pool::<()>::new(1).expect("small");
    assert!(pool.try_alloc(()).is_ok());
}
