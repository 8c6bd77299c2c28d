//! Models of the semaphore: exclusion, order, no lost wake-up, leaving, closing.
#![cfg(loom)]

mod loom_common;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use loom_common::poll;
use sateen_sync::{AcquireError, Semaphore, block_on};
use sateen_testkit::model;

/// With one permit and two threads it is a lock.
#[test]
fn one_permit() {
    model(3, || {
        let shared = Arc::new((Semaphore::new(1), UnsafeCell::new(0)));
        let add = |shared: &(Semaphore, UnsafeCell<i32>)| {
            let _permit = shared.0.acquire(1).unwrap();
            // SAFETY: the model checks that no other thread is here.
            shared.1.with_mut(|n| unsafe { *n += 1 });
        };
        let other = thread::spawn({
            let shared = shared.clone();
            move || add(&shared)
        });
        add(&shared);
        other.join().unwrap();
        // SAFETY: the other thread has ended.
        assert_eq!(shared.1.with(|n| unsafe { *n }), 2);
        assert_eq!(shared.0.available_permits(), 1);
    });
}

/// One caller wants two permits, which two others give one by one.
#[test]
fn many_from_few() {
    model(2, || {
        let semaphore = Arc::new(Semaphore::new(0));
        let givers = [0; 2].map(|_| {
            let semaphore = semaphore.clone();
            thread::spawn(move || semaphore.add_permits(1))
        });
        semaphore.acquire(2).unwrap().forget();
        for giver in givers {
            giver.join().unwrap();
        }
        assert_eq!(semaphore.available_permits(), 0);
    });
}

/// Two callers wait for one permit each. Two permits come at once, and the first caller passes the
/// turn on.
#[test]
fn both_are_woken() {
    model(2, || {
        let semaphore = Arc::new(Semaphore::new(0));
        let takers = [0; 2].map(|_| {
            let semaphore = semaphore.clone();
            thread::spawn(move || semaphore.acquire(1).unwrap().forget())
        });
        semaphore.add_permits(2);
        for taker in takers {
            taker.join().unwrap();
        }
        assert_eq!(semaphore.available_permits(), 0);
    });
}

/// The first of two waiters is dropped while it is being woken. The second gets the permit.
#[test]
fn a_dropped_waiter_passes_its_turn_on() {
    model(3, || {
        let semaphore = Arc::new(Semaphore::new(0));
        let own = semaphore.clone();
        let mut first = Box::pin(own.acquire_async(1));
        let mut second = Box::pin(own.acquire_async(1));
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
        let giver = thread::spawn(move || semaphore.add_permits(1));
        drop(first);
        assert!(block_on(second).is_ok());
        giver.join().unwrap();
    });
}

/// The first caller wants more permits than there will be, and leaves. The second is not left
/// behind.
#[test]
fn a_big_one_leaves() {
    model(3, || {
        let semaphore = Arc::new(Semaphore::new(0));
        let own = semaphore.clone();
        let mut big = Box::pin(own.acquire_async(2));
        let mut small = Box::pin(own.acquire_async(1));
        assert!(poll(big.as_mut()).is_pending() && poll(small.as_mut()).is_pending());
        let giver = thread::spawn(move || semaphore.add_permits(1));
        drop(big);
        assert!(block_on(small).is_ok());
        giver.join().unwrap();
    });
}

/// One thread closes while another one gives a permit. The waiter gets one or the other, and goes
/// on.
#[test]
fn closing() {
    model(2, || {
        let semaphore = Arc::new(Semaphore::new(0));
        let threads = [
            thread::spawn({
                let semaphore = semaphore.clone();
                move || semaphore.close()
            }),
            thread::spawn({
                let semaphore = semaphore.clone();
                move || semaphore.add_permits(1)
            }),
        ];
        match semaphore.acquire(1) {
            Ok(guard) => drop(guard),
            Err(error) => assert_eq!(error, AcquireError::Closed),
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(semaphore.available_permits(), 1);
    });
}

/// A caller that learns of the closing sees what was done before it. This also holds if the first
/// look found a permit.
#[test]
fn closing_publishes() {
    model(3, || {
        let shared = Arc::new((Semaphore::new(1), UnsafeCell::new(0)));
        let closer = thread::spawn({
            let shared = shared.clone();
            move || {
                // SAFETY: the model checks that no other thread is here.
                shared.1.with_mut(|n| unsafe { *n = 1 });
                shared.0.close();
            }
        });
        if shared.0.try_acquire(1).is_err() {
            // SAFETY: as above.
            assert_eq!(shared.1.with(|n| unsafe { *n }), 1);
        }
        closer.join().unwrap();
    });
}
