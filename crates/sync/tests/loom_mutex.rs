//! Models of the mutex: exclusion, no lost wake-up, lockers that give up.
#![cfg(loom)]

mod loom_common;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use loom_common::poll;
use sateen_sync::{Mutex, RawMutex, block_on};
use sateen_testkit::model;

/// Two threads, one value.
#[test]
fn two_lockers() {
    model(3, || {
        let mutex = Arc::new(Mutex::new(0));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || *mutex.lock() += 1
        });
        *mutex.lock() += 1;
        other.join().unwrap();
        assert_eq!(*mutex.lock(), 2);
    });
}

/// The same through the lock that `lock_api` wraps. Its unlock lets no panic of a waker out.
#[test]
fn two_lockers_of_a_wrapped_lock() {
    model(3, || {
        let mutex = Arc::new(lock_api::Mutex::from_raw(RawMutex::new(), UnsafeCell::new(0)));
        // SAFETY: the lock under test excludes others. Otherwise the model fails.
        let raise = |n: &mut UnsafeCell<i32>| n.with_mut(|n| unsafe { *n += 1 });
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || raise(&mut mutex.lock())
        });
        raise(&mut mutex.lock());
        other.join().unwrap();
        // SAFETY: as above.
        assert_eq!(mutex.lock().with(|n| unsafe { *n }), 2);
    });
}

/// Three threads lock once each.
#[test]
fn three_lockers() {
    model(2, || {
        let mutex = Arc::new(Mutex::new(0));
        let others = [0; 2].map(|_| {
            let mutex = mutex.clone();
            thread::spawn(move || *mutex.lock() += 1)
        });
        *mutex.lock() += 1;
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(*mutex.lock(), 3);
    });
}

/// One thread locks again and again. The waiter that it wakes loses a race, rejoins at the front,
/// and bars the other thread, which then queues behind it. (In the model one lost race is the
/// limit.)
#[test]
fn a_waiter_that_loses_races() {
    model(2, || {
        let mutex = Arc::new(Mutex::new(0));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || *mutex.lock() += 1
        });
        for _ in 0..3 {
            *mutex.lock() += 1;
        }
        other.join().unwrap();
        assert_eq!(*mutex.lock(), 4);
    });
}

/// A thread and a future lock.
#[test]
fn a_thread_and_a_future() {
    model(3, || {
        let mutex = Arc::new(Mutex::new(0));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || *block_on(mutex.lock_async()) += 1
        });
        *mutex.lock() += 1;
        other.join().unwrap();
        assert_eq!(*mutex.lock(), 2);
    });
}

/// A future that is dropped while it is being woken lets the next locker have its turn.
#[test]
fn a_dropped_locker_passes_its_turn_on() {
    model(2, || {
        let mutex = Arc::new(Mutex::new(0));
        let own = mutex.clone();
        let guard = own.lock();
        let mut future = Box::pin(own.lock_async());
        assert!(poll(future.as_mut()).is_pending());
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || *mutex.lock() += 1
        });
        // The thread may be queued behind the future or not. It must get the lock in both cases.
        drop(guard);
        drop(future);
        other.join().unwrap();
        assert_eq!(*own.lock(), 1);
    });
}

/// The same, with the drop and the unlock on different threads.
#[test]
fn dropped_while_another_thread_unlocks() {
    model(2, || {
        let mutex = Arc::new(Mutex::new(0));
        let own = mutex.clone();
        let guard = mutex.lock();
        // SAFETY: the guard is dropped before the mutex, which `own` keeps until the other thread
        // is joined.
        let guard: sateen_sync::MutexGuard<'static, i32> = unsafe { std::mem::transmute(guard) };
        let mut first = Box::pin(own.lock_async());
        let mut second = Box::pin(own.lock_async());
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        let unlocker = thread::spawn(move || drop(guard));
        drop(first);
        *block_on(second.as_mut()) += 1;
        unlocker.join().unwrap();
        assert_eq!(*own.try_lock().expect("free"), 1);
        drop(mutex);
    });
}

/// A woken future is dropped while no waiter is behind it. Later lockers find the mutex as if it
/// were new.
#[test]
fn a_turn_that_nobody_wants_leaves_no_trace() {
    model(3, || {
        let mutex = Arc::new(Mutex::new(0));
        {
            let guard = mutex.lock();
            let mut future = Box::pin(mutex.lock_async());
            assert!(poll(future.as_mut()).is_pending());
            drop(guard);
        }
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || *mutex.lock() += 1
        });
        *mutex.lock() += 1;
        other.join().unwrap();
    });
}

/// A waiter that bars newcomers is dropped. Newcomers are let in again.
#[test]
fn a_starved_waiter_that_leaves_lifts_the_bar() {
    model(3, || {
        let mutex = Arc::new(Mutex::new(0));
        let own = mutex.clone();
        let mut starved = Box::pin(own.lock_async());
        let mut guard = own.lock();
        assert!(poll(starved.as_mut()).is_pending());
        for _ in 0..2 {
            drop(guard);
            guard = own.try_lock().expect("barging past a waiter that was woken");
            assert!(poll(starved.as_mut()).is_pending());
        }
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || *mutex.lock() += 1
        });
        drop(starved);
        drop(guard);
        *own.lock() += 1;
        other.join().unwrap();
    });
}
