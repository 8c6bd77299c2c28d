//! Models of the condition variable.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::thread;
use loom_common::poll;
use sateen_sync::{Condvar, Mutex, block_on};
use sateen_testkit::model;

/// The condition changes while a thread begins to wait. The thread is notified, or does not wait.
#[test]
fn no_notification_is_lost() {
    model(3, || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let setter = thread::spawn({
            let shared = shared.clone();
            move || {
                *shared.0.lock() = true;
                shared.1.notify_one();
            }
        });
        let mut guard = shared.0.lock();
        shared.1.wait_while(&mut guard, |set| !*set);
        drop(guard);
        setter.join().unwrap();
    });
}

/// A thread and a future wait. The condition is notified once for each.
#[test]
fn a_thread_and_a_future() {
    model(2, || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let waiter = thread::spawn({
            let shared = shared.clone();
            move || {
                block_on(async {
                    let mut guard = shared.0.lock_async().await;
                    while *guard == 0 {
                        guard = shared.1.wait_async(guard).await;
                    }
                    *guard -= 1;
                });
            }
        });
        *shared.0.lock() += 1;
        shared.1.notify_all();
        waiter.join().unwrap();
        assert_eq!(*shared.0.lock(), 0);
    });
}

/// A wait is dropped while it is notified, in any stage. The next waiter gets the notification.
#[test]
fn a_dropped_wait_passes_the_notification_on() {
    model(2, || {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let own = shared.clone();
        let mut first = Box::pin(own.1.wait_async(own.0.lock()));
        assert!(poll(first.as_mut()).is_pending());
        let mut second = Box::pin(own.1.wait_async(own.0.lock()));
        assert!(poll(second.as_mut()).is_pending());
        let guard = own.0.lock();
        let notifier = thread::spawn(move || assert!(shared.1.notify_one()));
        // The wait was notified by now, and waits for the mutex.
        assert!(poll(first.as_mut()).is_pending());
        drop(first);
        drop(guard);
        notifier.join().unwrap();
        assert!(poll(second.as_mut()).is_ready());
    });
}

/// A waiter's time limit passes while it is notified. The notification ends one of the two waits.
#[test]
fn a_time_out_loses_no_notification() {
    model(2, || {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let own = shared.clone();
        let guard = own.0.lock();
        let timed = thread::spawn({
            let shared = shared.clone();
            move || {
                let now = std::time::Instant::now();
                shared.1.wait_until(&mut shared.0.lock(), now).timed_out()
            }
        });
        let mut behind = Box::pin(own.1.wait_async(guard));
        assert!(poll(behind.as_mut()).is_pending());
        let notified = shared.1.notify_one();
        let timed_out = timed.join().unwrap();
        assert!(notified);
        assert_eq!(timed_out, poll(behind.as_mut()).is_ready());
    });
}
