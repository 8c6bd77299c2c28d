//! Values whose destructors panic: all values are dropped, one panic reaches the caller, and no
//! block is lost.
#![cfg(not(loom))]

use sateen_pool::{Pool, PoolBox};
use sateen_testkit::in_child;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts its drops, each of which panics.
struct Bomb(Arc<AtomicUsize>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
        panic!("a bomb");
    }
}

#[track_caller]
fn panics(f: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
}

#[test]
fn a_pool() {
    if in_child("a_pool") {
        let dropped = Arc::new(AtomicUsize::new(0));
        let pool = Pool::<Bomb>::new(4).expect("small");
        for _ in 0..3 {
            assert!(pool.insert(Bomb(dropped.clone())).is_ok());
        }
        panics(|| drop(pool));
        assert_eq!(dropped.load(Relaxed), 3);
    }
}

#[test]
fn boxes_and_entries() {
    if in_child("boxes_and_entries") {
        let dropped = Arc::new(AtomicUsize::new(0));
        let pool = Pool::<Bomb>::new(1).expect("small");
        panics(|| drop(pool.try_alloc(Bomb(dropped.clone()))));
        let key = pool.insert(Bomb(dropped.clone())).expect("free again");
        panics(|| assert!(pool.remove(key)));
        let key = pool.try_alloc(Bomb(dropped.clone())).map(PoolBox::into_key).expect("free again");
        let entry = pool.take(key).expect("it is there");
        panics(|| drop(entry));
        assert_eq!((dropped.load(Relaxed), pool.in_use()), (3, 0));
    }
}
