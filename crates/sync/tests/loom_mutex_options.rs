//! Models of the mutex's options: fair turns, and lockers whose time limit passes.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::thread;
use loom_common::poll;
use sateen_sync::{Mutex, block_on};
use sateen_testkit::model;
use std::task::Poll;

/// Two lockers of a fair mutex, and one that gives up. None is left behind, and none barges.
#[test]
fn fair_turns() {
    model(2, || {
        let mutex = Arc::new(Mutex::fair(0));
        let own = mutex.clone();
        let mut first = Box::pin(own.lock_async());
        let guard = own.lock();
        assert!(poll(first.as_mut()).is_pending());
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || *mutex.lock() += 1
        });
        drop(guard);
        assert!(own.try_lock().is_none(), "the first waiter's turn");
        let Poll::Ready(mut guard) = poll(first.as_mut()) else { panic!("its turn") };
        *guard += 1;
        drop(guard);
        other.join().unwrap();
        assert_eq!(*own.try_lock().expect("free"), 2);
    });
}

/// A timed locker gives up while it is being woken. It takes its turn or passes it on.
#[test]
fn a_locker_whose_time_is_over() {
    model(2, || {
        let mutex = Arc::new(Mutex::new(0));
        let own = mutex.clone();
        let guard = own.lock();
        let mut behind = Box::pin(own.lock_async());
        let timed = thread::spawn({
            let mutex = mutex.clone();
            move || {
                if let Some(mut guard) = mutex.try_lock_until(std::time::Instant::now()) {
                    *guard += 1;
                }
            }
        });
        assert!(poll(behind.as_mut()).is_pending());
        drop(guard);
        *block_on(behind) += 1;
        timed.join().unwrap();
        assert!(*own.try_lock().expect("free") >= 1);
    });
}
