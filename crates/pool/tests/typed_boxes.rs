//! Boxes of typed pools, with every strategy.
#![cfg(not(loom))]

use sateen_pool::{
    Allocate, ArcPoolBox, Blocks, BuildError, Growth, LockFreeTree, Magazine, Pool, PoolBox,
    Strategy,
};
use std::alloc::{alloc, dealloc};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Runs a generic function once for each strategy that has memory of its own.
macro_rules! with_each_strategy {
    ($($name:ident: $check:ident;)*) => { $(
        #[test]
        fn $name() {
            $check::<LockFreeTree>();
            $check::<Magazine>();
        }
    )* };
}

with_each_strategy! {
    values_of_all_shapes_fit: shapes;
    a_full_pool_gives_the_value_back: full;
    panics_return_their_blocks: panics;
    pools_grow_in_chunks_and_stop: growth;
    boxes_are_dropped_once: drops;
}

/// Counts its drops.
#[derive(Debug)]
struct Counted<'a>(&'a Cell<usize>);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[repr(align(8192))]
#[derive(Clone, PartialEq, Debug)]
struct OverAligned(u8);

fn shape<T: Clone + PartialEq + std::fmt::Debug, S: Strategy>(value: T) {
    const BLOCKS: usize = if cfg!(miri) { 7 } else { 70 };
    let pool = Pool::<T, S>::new(BLOCKS).expect("memory");
    for _ in 0..2 {
        let boxes: Vec<_> =
            (0..BLOCKS).map(|_| pool.try_alloc(value.clone()).expect("room")).collect();
        let mut addresses: Vec<_> = boxes.iter().map(|b| &raw const **b as usize).collect();
        assert!(addresses.iter().all(|a| a.is_multiple_of(align_of::<T>())));
        addresses.sort_unstable();
        let step = size_of::<T>().max(1);
        assert!(addresses.windows(2).all(|pair| pair[0] + step <= pair[1]));
        assert!(boxes.iter().all(|b| **b == value) && pool.try_alloc(value.clone()).is_err());
    }
    assert_eq!(pool.in_use(), 0);
}

fn shapes<S: Strategy>() {
    shape::<_, S>(());
    shape::<_, S>(7u8);
    shape::<_, S>([7u32; 3]);
    shape::<_, S>((1u128, 2u8));
    shape::<_, S>("text".to_owned());
    shape::<_, S>([9u64; 1500]);
    shape::<_, S>(OverAligned(3));
}

fn full<S: Strategy>() {
    let pool = Pool::<String, S>::new(2).expect("memory");
    let kept = [pool.try_alloc("a".into()), pool.try_alloc("b".into())];
    let full = pool.try_alloc("c".into()).expect_err("two are out");
    assert!(full.to_string().contains(" 2 blocks"), "{full}");
    assert_eq!(full.into_inner(), "c");
    let made = Cell::new(false);
    let make = || {
        made.set(true);
        "d".to_owned()
    };
    let make = pool.try_alloc_with(make).expect_err("two are out").into_inner();
    assert!(!made.get());
    let [a, b] = kept.map(|kept| kept.expect("room for two"));
    assert_eq!(PoolBox::into_inner(a), "a");
    assert_eq!(*pool.try_alloc_with(make).expect("room for one"), "d");
    assert_eq!((b.as_str(), made.get(), pool.in_use()), ("b", true, 1));
}

fn panics<S: Strategy>() {
    #[derive(Debug)]
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("expected");
        }
    }
    let pool = Pool::<Bomb, S>::new(3).expect("memory");
    for _ in 0..5 {
        let bomb = pool.try_alloc(Bomb).expect("room");
        assert!(catch_unwind(AssertUnwindSafe(|| drop(bomb))).is_err());
        let make = || -> Bomb { panic!("expected") };
        assert!(catch_unwind(AssertUnwindSafe(|| drop(pool.try_alloc_with(make)))).is_err());
        let key = pool.insert(Bomb).expect("room");
        assert!(catch_unwind(AssertUnwindSafe(|| pool.remove(key))).is_err());
        assert!(!pool.contains(key));
        let make = |_| -> Bomb { panic!("expected") };
        assert!(catch_unwind(AssertUnwindSafe(|| drop(pool.insert_with(make)))).is_err());
        assert_eq!(pool.in_use(), 0);
    }
}

fn growth<S: Strategy>() {
    // Of 1, 4, 4, 4 and 3 times as many blocks, or of 1, 1, 2, 4 and 8 times.
    const FIRST: usize = if cfg!(miri) { 1 } else { 10 };
    const MOST: usize = 16 * FIRST;
    for (by, chunks) in [(Growth::Fixed(4 * FIRST), 5), (Growth::Doubling, 5)] {
        let pool = Pool::<usize, S>::builder(FIRST).grow(by, MOST).build().expect("memory");
        for _ in 0..2 {
            let mut boxes: Vec<_> = (0..MOST).map(|n| pool.try_alloc(n).expect("room")).collect();
            let full = pool.try_alloc(0).expect_err("full").to_string();
            assert!(full.contains(&format!(" {MOST} blocks")), "{full}");
            let stats = pool.stats();
            assert_eq!((stats.capacity, stats.most, stats.chunks), (MOST, MOST, chunks));
            assert_eq!((stats.in_use, stats.high_water), (MOST, MOST));
            // Every other value, so that each chunk has room.
            boxes.retain(|b| **b % 2 == 0);
            assert_eq!(pool.in_use(), MOST / 2);
            boxes.extend((0..MOST / 2).map(|n| pool.try_alloc(2 * n).expect("room")));
            assert!(boxes.iter().all(|b| **b % 2 == 0) && pool.try_alloc(0).is_err());
        }
        assert_eq!(pool.in_use(), 0);
        // Each key still leads to the right block of its chunk.
        let keys: Vec<_> = (0..MOST).map(|n| pool.insert(n).expect("room")).collect();
        for (n, key) in keys.iter().enumerate() {
            assert_eq!(pool.get(*key).as_deref(), Some(&n));
            assert_eq!(pool.take(*key).map(PoolBox::into_inner), Some(n));
        }
    }
}

fn drops<S: Strategy>() {
    let dropped = Cell::new(0);
    let pool = Pool::<Counted<'_>, S>::new(5).expect("memory");
    let boxes: Vec<_> = (0..5).map(|_| pool.try_alloc(Counted(&dropped)).expect("room")).collect();
    let mut boxes = boxes.into_iter();
    let refused = pool.try_alloc(Counted(&dropped)).expect_err("full");
    assert_eq!(dropped.get(), 0);
    drop(refused);
    assert_eq!(dropped.get(), 1);
    let value = boxes.next().map(PoolBox::into_inner);
    assert_eq!((dropped.get(), pool.in_use()), (1, 4));
    drop(value);
    // The block is lost, and the value is never dropped.
    std::mem::forget(boxes.next());
    drop(boxes);
    assert_eq!((dropped.get(), pool.in_use()), (5, 1));
    drop(pool);
    assert_eq!(dropped.get(), 5);
}

/// Blocks that do not lie in the pool's memory.
struct Global;

// SAFETY: the contract of allocators gives 1 and 2; the layout is passed on, which gives 3.
unsafe impl Allocate for Global {
    const NAME: &'static str = "global";
    const OWN_MEMORY: bool = false;

    fn new(_: &Blocks) -> Result<Self, BuildError> {
        Ok(Self)
    }
    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>> {
        // SAFETY: a pool's blocks have a size.
        NonNull::new(unsafe { alloc(blocks.layout()) })
    }
    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(block.as_ptr(), blocks.layout()) };
    }
    fn in_use(&self, _: &Blocks) -> usize {
        0
    }
    fn bookkeeping(&self) -> usize {
        0
    }
}

#[test]
fn the_general_allocator_gives_boxes_too() {
    let dropped = Cell::new(0);
    let pool = Pool::<Counted<'_>, Global>::new(1).expect("nothing to take");
    let boxes = [(); 3].map(|()| pool.try_alloc(Counted(&dropped)).expect("memory"));
    drop(boxes);
    assert_eq!(dropped.get(), 3);
    let pool = Pool::<(), Global>::new(1).expect("nothing to take");
    assert!(pool.try_alloc(()).is_ok());
}

#[test]
fn the_last_box_takes_its_pool_along() {
    let count = Arc::new(AtomicUsize::new(0));
    #[derive(Debug)]
    struct Tick(Arc<AtomicUsize>);
    impl Drop for Tick {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let pool = Arc::new(Pool::<Tick>::new(4).expect("memory"));
    let one: ArcPoolBox<Tick> = pool.try_alloc_arc(Tick(count.clone())).expect("room");
    let two = pool.try_alloc_arc(Tick(count.clone())).expect("room");
    let entry = ArcPoolBox::into_key(pool.try_alloc_arc(Tick(count.clone())).expect("room"));
    assert!(pool.contains(entry));
    let watch = Arc::downgrade(&pool);
    drop(pool);
    std::thread::spawn(move || drop(one)).join().expect("no panic");
    assert_eq!((count.load(Relaxed), watch.strong_count()), (1, 1));
    let inner = ArcPoolBox::into_inner(two);
    // The pool was dropped, and the entry with it. The value that was taken out is still there.
    assert_eq!((count.load(Relaxed), watch.strong_count()), (2, 0));
    drop(inner);
    assert_eq!(count.load(Relaxed), 3);
}

#[test]
fn a_dying_thread_returns_what_it_holds() {
    let pool = Pool::<String>::new(8).expect("memory");
    let died = std::thread::scope(|s| {
        let holder = s.spawn(|| {
            let _held = [(); 8].map(|()| pool.try_alloc("held".to_owned()).expect("room"));
            panic!("expected");
        });
        holder.join().is_err()
    });
    assert!(died && pool.in_use() == 0);
    let all: Vec<_> =
        (0..8).map(|_| pool.try_alloc(String::new()).expect("all are back")).collect();
    assert_eq!(all.len(), 8);
}

#[test]
fn one_thread_may_use_what_cannot_be_shared() {
    let pool = Pool::<Rc<u32>>::new(2).expect("memory");
    let shared = Rc::new(1);
    let boxed = pool.try_alloc(shared.clone()).expect("room");
    let key = pool.insert(shared.clone()).expect("room");
    assert_eq!((Rc::strong_count(&shared), **boxed), (3, 1));
    drop(boxed);
    assert!(pool.remove(key));
    assert_eq!(Rc::strong_count(&shared), 1);
}

#[test]
fn what_cannot_be_built_says_why() {
    let error = |pool: Result<Pool<u64>, BuildError>| pool.expect_err("refused");
    assert_eq!(error(Pool::new(0)), BuildError::ZeroCapacity);
    match error(Pool::new(usize::MAX)) {
        BuildError::Capacity { asked: usize::MAX, .. } if usize::BITS == 64 => {}
        // Each block could be numbered, but not addressed.
        BuildError::Overflow { capacity: usize::MAX, .. } if usize::BITS < 64 => {}
        other => panic!("{other}"),
    }
    for (capacity, growth, most) in
        [(10, Growth::Doubling, 9), (10, Growth::Fixed(0), 11), (10, Growth::Fixed(1), 42)]
    {
        let refused = error(Pool::builder(capacity).grow(growth, most).build());
        assert!(matches!(refused, BuildError::Growth { most: m, .. } if m == most));
        assert!(refused.to_string().contains(&format!("grow to {most}")));
    }
    const LARGE: usize = 1 << (usize::BITS / 2 + 8);
    let huge = Pool::<[u8; LARGE]>::new(1 << 30);
    assert!(matches!(huge, Err(BuildError::Overflow { size, .. }) if size > LARGE));
}
