//! Locks that remember a panic, and the mutex that its holder may lock again.
#![cfg(not(loom))]

mod common;

use common::block_on;
use sateen_sync::park::{Blocker, Identity};
use sateen_sync::poison::{Mutex, RwLock, TryLockError};
use sateen_sync::{ReentrantMutex, ReentrantMutexGuard, park};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

fn panics(f: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
}

#[test]
fn a_mutex_remembers() {
    let mut mutex = Mutex::new(1);
    panics(|| {
        let _guard = mutex.lock().unwrap();
        panic!("guard");
    });
    assert!(mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap_err().into_inner(), 1);
    assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_))));
    assert!(block_on(mutex.lock_async()).is_err());
    assert!(mutex.get_mut().is_err());
    assert!(mutex.with(|_| unreachable!("it does not run")).is_err());
    mutex.clear_poison();
    assert_eq!(mutex.with(|value| *value).unwrap(), 1);
    panics(|| drop(mutex.with(|_| panic!("section"))));
    assert!(mutex.is_poisoned());
    assert_eq!(format!("{mutex:?}"), "Mutex { lock: Mutex { data: 1 }, poisoned: true }");
    assert_eq!(mutex.into_inner().unwrap_err().into_inner(), 1);
}

#[test]
fn a_reader_does_not_poison_a_writer_does() {
    let lock = RwLock::<i32>::default();
    panics(|| {
        let _guard = lock.read().unwrap();
        panic!("reader");
    });
    assert_eq!(*lock.try_read().unwrap(), 0);
    *lock.try_write().unwrap() += 1;
    panics(|| {
        let _guard = lock.write().unwrap();
        panic!("writer");
    });
    assert!(lock.read().is_err() && lock.write().is_err());
    lock.clear_poison();
    panics(|| drop(lock.with(|_| panic!("section"))));
    assert!(lock.is_poisoned());
}

/// The thread unwinds for another reason. A section that ends well then poisons neither form. A
/// section that panics poisons the form that sees the panic.
#[test]
fn inside_another_unwinding() {
    sateen_testkit::print_no_panics_under_miri();
    struct LocksWhenDropped<'a>(&'a Mutex<i32>, &'a Mutex<i32>);
    impl Drop for LocksWhenDropped<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
            self.0.with(|value| *value += 1).unwrap();
            panics(|| drop(self.1.with(|_| panic!("inner"))));
        }
    }
    let (fine, hurt) = (Mutex::new(0), Mutex::new(0));
    panics(|| {
        let _locks = LocksWhenDropped(&fine, &hurt);
        panic!("outer");
    });
    assert_eq!(*fine.lock().unwrap(), 2);
    assert!(hurt.is_poisoned());
}

#[test]
fn locked_again_by_its_holder_only() {
    let mutex = ReentrantMutex::new(Cell::new(0));
    let outer = mutex.lock();
    let inner = mutex.try_lock().expect("the holder again");
    inner.set(outer.get() + 1);
    drop(outer);
    thread::scope(|s| {
        let other = s.spawn(|| {
            assert!(mutex.try_lock().is_none());
            assert!(mutex.try_lock_for(Duration::from_millis(1)).is_none());
        });
        other.join().unwrap();
    });
    drop(inner);
    let part = ReentrantMutexGuard::map(mutex.lock(), |cell| cell);
    assert_eq!(part.get(), 1);
    drop(part);
    // Another context on the same thread counts as another holder.
    let contexts: &'static Contexts = Box::leak(Box::default());
    // SAFETY: here and below, no wait is in progress. The previous blocker is put back.
    let before = unsafe { park::install(Some(contexts)) };
    let guard = mutex.lock();
    assert!(mutex.try_lock().is_some());
    contexts.current.set(1);
    assert!(mutex.try_lock().is_none());
    contexts.current.set(0);
    drop(guard);
    // SAFETY: as above.
    unsafe { park::install(before) };
    // A forgotten guard leaves the lock with its holder, which may go on.
    std::mem::forget(mutex.lock());
    assert!(mutex.try_lock().is_some());
    thread::scope(|s| s.spawn(|| assert!(mutex.try_lock().is_none())).join().unwrap());
}

/// Two contexts of one thread.
#[derive(Default)]
struct Contexts {
    current: Cell<usize>,
    identities: [Identity; 2],
}

// SAFETY: contexts stay on their thread, and nothing unwinds.
unsafe impl Blocker for Contexts {
    fn waker(&self) -> Waker {
        unreachable!("nobody waits")
    }
    fn park(&self) {
        unreachable!("nobody waits")
    }
    fn park_until(&self, _: Instant) {
        unreachable!("nobody waits")
    }
    fn identity(&self) -> Option<&Identity> {
        Some(&self.identities[self.current.get()])
    }
}
