//! Entries by key, and growth, under the model checker.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use sateen_pool::{Allocate, Blocks, BuildError, Growth, Key, Pool, PoolBox};
use sateen_testkit::model;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A stack of free blocks under a lock. The models check what lies above it.
struct Stack {
    free: Mutex<Vec<usize>>,
    /// Written before the pool exists and read afterwards, so the model notices a chunk that is
    /// found too early.
    made: UnsafeCell<bool>,
}

// SAFETY: `made` is written once, before the strategy is shared.
unsafe impl Sync for Stack {}

// SAFETY: a block that `take` returns was on the stack once, and goes back there.
unsafe impl Allocate for Stack {
    const NAME: &'static str = "stack";

    fn new(blocks: &Blocks) -> Result<Self, BuildError> {
        let made = UnsafeCell::new(false);
        // SAFETY: the strategy is not shared yet.
        made.with_mut(|made| unsafe { *made = true });
        Ok(Self { free: Mutex::new((0..blocks.capacity()).rev().collect()), made })
    }

    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>> {
        // SAFETY: no thread writes it after `new`.
        assert!(self.made.with(|made| unsafe { *made }));
        self.free.lock().unwrap().pop().map(|index| blocks.at(index))
    }

    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>) {
        self.free.lock().unwrap().push(blocks.index_of(block));
    }

    fn in_use(&self, blocks: &Blocks) -> usize {
        blocks.capacity() - self.free.lock().unwrap().len()
    }

    fn bookkeeping(&self) -> usize {
        0
    }
}

/// A value whose reads and drop the model watches.
struct Watched {
    value: UnsafeCell<u32>,
    dropped: &'static AtomicUsize,
}

// SAFETY: the value is written before it is shared and when it is dropped. The model fails if other
// accesses overlap.
unsafe impl Sync for Watched {}

impl Watched {
    fn new(value: u32, dropped: &'static AtomicUsize) -> Self {
        let cell = UnsafeCell::new(0);
        // SAFETY: the value is not shared yet.
        cell.with_mut(|cell| unsafe { *cell = value });
        Self { value: cell, dropped }
    }

    fn read(&self) -> u32 {
        // SAFETY: the model fails if another thread writes.
        self.value.with(|value| unsafe { *value })
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: as above.
        self.value.with_mut(|value| unsafe { *value = u32::MAX });
        self.dropped.fetch_add(1, Relaxed);
    }
}

type Table = Pool<Watched, Stack>;

/// A table, and a count of drops. The count is leaked, because a fault may drop a value twice,
/// which the model has to find.
fn table() -> (Arc<Table>, &'static AtomicUsize) {
    (Arc::new(Pool::new(1).unwrap()), Box::leak(Box::default()))
}

/// The key of the entry that comes next in the same slot.
fn next(key: Key) -> Key {
    Key::from_bits(key.to_bits() + (1 << 32)).unwrap()
}

/// Two threads look at an entry, and one of them removes it meanwhile. The last thread to leave
/// drops the entry, after all reads.
#[test]
fn the_last_guard_drops() {
    model(3, || {
        let (pool, dropped) = table();
        let key = pool.insert(Watched::new(7, dropped)).ok().unwrap();
        let reader = {
            let pool = pool.clone();
            thread::spawn(move || pool.get(key).map(|entry| assert_eq!(entry.read(), 7)))
        };
        let entry = pool.get(key).unwrap();
        assert!(pool.remove(key));
        assert_eq!(entry.read(), 7);
        drop(entry);
        reader.join().unwrap();
        assert_eq!((dropped.load(Relaxed), pool.in_use()), (1, 0));
        assert!(!pool.contains(key) && pool.get(key).is_none());
    });
}

/// A reader shares nothing with the writer but the key. It finds the whole value or nothing.
#[test]
fn a_published_value_is_whole() {
    model(3, || {
        let (pool, dropped) = table();
        let key = pool.insert(Watched::new(1, dropped)).ok().unwrap();
        drop(pool.take(key));
        let key = next(key);
        let writer = {
            let pool = pool.clone();
            let value = Watched::new(0, dropped);
            thread::spawn(move || {
                // SAFETY: the pool is not shared yet.
                value.value.with_mut(|cell| unsafe { *cell = 2 });
                assert_eq!(pool.insert(value).ok(), Some(key));
            })
        };
        if let Some(entry) = pool.get(key) {
            assert_eq!(entry.read(), 2);
        }
        writer.join().unwrap();
        assert_eq!(pool.take(key).map(|value| value.read()), Some(2));
        assert_eq!(dropped.load(Relaxed), 2);
    });
}

/// An entry is removed, and another one takes its slot. The old key never finds the new entry.
#[test]
fn a_stale_key_finds_nothing() {
    model(3, || {
        let (pool, dropped) = table();
        let key = pool.insert(Watched::new(1, dropped)).ok().unwrap();
        let other = {
            let pool = pool.clone();
            thread::spawn(move || {
                assert!(pool.remove(key));
                // The pool is full if the other thread still looks at the first entry.
                pool.insert(Watched::new(2, dropped)).ok()
            })
        };
        if let Some(entry) = pool.get(key) {
            assert_eq!(entry.read(), 1);
        }
        let second = other.join().unwrap();
        assert!(pool.get(key).is_none() && second.is_none_or(|second| second == next(key)));
        drop(pool);
        assert_eq!(dropped.load(Relaxed), 2);
    });
}

/// Two threads take an entry out while a third looks at it. At most one of the takers gets it, and
/// none drops it while the third looks.
#[test]
fn one_gets_it() {
    model(2, || {
        let (pool, dropped) = table();
        let key = pool.insert(Watched::new(1, dropped)).ok().unwrap();
        let taker = {
            let pool = pool.clone();
            thread::spawn(move || match pool.take(key).map(PoolBox::into_inner) {
                Some(value) => {
                    assert_eq!(value.read(), 1);
                    true
                }
                None => false,
            })
        };
        let reader = {
            let pool = pool.clone();
            thread::spawn(move || {
                if let Some(entry) = pool.get(key) {
                    assert_eq!(entry.read(), 1);
                }
            })
        };
        let removed = pool.remove(key);
        let taken = taker.join().unwrap();
        reader.join().unwrap();
        assert!(removed != taken);
        assert_eq!((dropped.load(Relaxed), pool.in_use()), (1, 0));
    });
}

/// Two threads find the pool full at once. One chunk is added, it is complete when found, and no
/// block is given twice.
#[test]
fn growing_at_once() {
    model(3, || {
        let pool = Pool::<u32, Stack>::builder(1).grow(Growth::Fixed(2), 3).build().unwrap();
        let pool = Arc::new(pool);
        let first = pool.insert(0).ok().unwrap();
        let other = {
            let pool = pool.clone();
            thread::spawn(move || {
                let mine = pool.try_alloc(1).ok().unwrap();
                assert_eq!(*mine, 1);
                PoolBox::into_key(mine)
            })
        };
        let mine = pool.try_alloc(2).ok().unwrap();
        let others = other.join().unwrap();
        assert_eq!((*mine, *pool.get(others).unwrap(), *pool.get(first).unwrap()), (2, 1, 0));
        assert!(pool.try_alloc(3).is_err());
        drop(mine);
        assert!(pool.remove(others) && pool.remove(first));
        assert_eq!((pool.in_use(), pool.capacity()), (0, 3));
    });
}
