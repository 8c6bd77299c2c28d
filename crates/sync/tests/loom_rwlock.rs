//! Models of the reader-writer lock: exclusion, no lost wake-up, giving up.
#![cfg(loom)]

mod loom_common;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use loom_common::poll;
use sateen_sync::{
    RawRwLock, RwLock, RwLockAsync, RwLockUpgradableReadGuard, RwLockWriteGuard, block_on,
};
use sateen_testkit::model;

/// A number that the model watches.
struct Watched(UnsafeCell<i32>);

// SAFETY: the lock under test excludes others. Otherwise the model fails.
unsafe impl Sync for Watched {}
// SAFETY: the value is a number.
unsafe impl Send for Watched {}

impl Watched {
    fn get(&self) -> i32 {
        // SAFETY: holders of the lock read the number.
        self.0.with(|n| unsafe { *n })
    }

    fn raise(&mut self) {
        // SAFETY: a holder that is alone writes the number.
        self.0.with_mut(|n| unsafe { *n += 1 });
    }
}

fn lock() -> Arc<RwLock<Watched>> {
    Arc::new(RwLock::from_raw(RawRwLock::new(), Watched(UnsafeCell::new(0))))
}

#[test]
fn a_reader_and_a_writer() {
    model(3, || {
        let lock = lock();
        let other = thread::spawn({
            let lock = lock.clone();
            move || lock.write().raise()
        });
        assert!(lock.read().get() < 2);
        other.join().unwrap();
        assert_eq!(lock.read().get(), 1);
    });
}

#[test]
fn two_writers() {
    model(3, || {
        let lock = lock();
        let other = thread::spawn({
            let lock = lock.clone();
            move || lock.write().raise()
        });
        lock.write().raise();
        other.join().unwrap();
        assert_eq!(lock.try_read().expect("free").get(), 2);
    });
}

/// A writer waits for two readers. The last reader lets it in.
#[test]
fn two_readers_let_a_writer_in() {
    model(3, || {
        let lock = lock();
        let own = lock.clone();
        let reader = own.read();
        let mut write = Box::pin(own.write_async());
        assert!(poll(write.as_mut()).is_pending());
        let other = thread::spawn({
            let lock = lock.clone();
            move || lock.read_recursive().get()
        });
        drop(reader);
        block_on(write).raise();
        assert!(other.join().unwrap() < 2);
    });
}

/// A thread upgrades beside a reader and a downgrade.
#[test]
fn upgrading() {
    model(3, || {
        let lock = lock();
        let other = thread::spawn({
            let lock = lock.clone();
            move || {
                let mut guard = RwLockUpgradableReadGuard::upgrade(lock.upgradable_read());
                guard.raise();
                RwLockWriteGuard::downgrade(guard).get()
            }
        });
        assert!(lock.read().get() < 2);
        assert_eq!(other.join().unwrap(), 1);
        assert!(lock.try_write().is_some());
    });
}

/// The head gives up while the lock is given back. The waiter behind the head gets the lock.
#[test]
fn the_head_gives_up() {
    model(3, || {
        let lock = lock();
        let own = lock.clone();
        let reader = own.read();
        let mut write = Box::pin(own.write_async());
        assert!(poll(write.as_mut()).is_pending());
        let other = thread::spawn({
            let lock = lock.clone();
            move || lock.read().get()
        });
        drop(write);
        drop(reader);
        assert_eq!(other.join().unwrap(), 0);
        assert!(own.try_write().is_some());
    });
}

/// The same for a future that waits behind the head, while a reader keeps its lock.
#[test]
fn the_gate_is_passed_on() {
    model(3, || {
        let lock = lock();
        let own = lock.clone();
        let reader = own.read();
        let mut write = Box::pin(own.write_async());
        assert!(poll(write.as_mut()).is_pending());
        let mut late = Box::pin(own.read_async());
        assert!(poll(late.as_mut()).is_pending());
        let other = thread::spawn(move || lock.read_recursive().get());
        drop(write);
        assert!(poll(late.as_mut()).is_ready());
        drop(reader);
        other.join().unwrap();
    });
}
