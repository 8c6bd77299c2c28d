//! The reader-writer lock: exclusion, order, and no waiter left behind.
#![cfg(not(loom))]

mod common;

use common::{InlineTask, block_on};
use sateen_base::XorShift;
use sateen_sync::{
    RawRwLock, RwLock, RwLockAsync, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use sateen_testkit::{Counter, poll, poll_with, sized, waker_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(3);

/// For each way to hold the lock: which others get in beside it.
#[test]
fn who_gets_in_beside_whom() {
    let lock = RwLock::new(0);
    let entries = |lock: &RwLock<i32>| {
        // These run one after another, because a guard lives to the end of its statement.
        let read = lock.try_read().is_some();
        let again = lock.try_read_recursive().is_some();
        let upgradable = lock.try_upgradable_read().is_some();
        [read, again, upgradable, lock.try_write().is_some()]
    };
    assert_eq!(entries(&lock), [true; 4]);
    let guard = lock.read();
    assert_eq!(entries(&lock), [true, true, true, false]);
    drop(guard);
    let guard = lock.upgradable_read();
    assert_eq!(entries(&lock), [true, true, false, false]);
    let guard = RwLockUpgradableReadGuard::upgrade(guard);
    assert_eq!(entries(&lock), [false; 4]);
    assert!(lock.is_locked() && lock.is_locked_exclusive());
    let guard = RwLockWriteGuard::downgrade_to_upgradable(guard);
    assert_eq!(entries(&lock), [true, true, false, false]);
    let guard = RwLockUpgradableReadGuard::downgrade(guard);
    assert_eq!(entries(&lock), [true, true, true, false]);
    drop(guard);
    let guard = RwLockWriteGuard::downgrade(lock.write());
    assert_eq!(entries(&lock), [true, true, true, false]);
    drop(guard);
    assert_eq!(entries(&lock), [true; 4]);
    assert!(!lock.is_locked());
    assert_eq!(
        format!("{:?}", RawRwLock::default()),
        "RawRwLock { locked: false, exclusively: false, .. }"
    );
    assert_eq!(format!("{lock:?}"), "RwLock { data: 0 }");
}

/// A future that has given its guard is polled again. It has no second guard to give.
#[test]
fn a_future_that_was_ready_locks_once() {
    fn twice<'a, T: 'a, G>(lock: &'a RwLock<T>, make: impl Fn(&'a RwLock<T>) -> G)
    where
        G: std::future::Future,
    {
        let mut future = Box::pin(make(lock));
        let Poll::Ready(guard) = poll(future.as_mut()) else { panic!("nobody holds it") };
        let again = catch_unwind(AssertUnwindSafe(|| poll(future.as_mut())));
        assert!(again.is_err(), "a second guard of one lock");
        drop(guard);
        drop(future);
        assert!(!lock.is_locked());
    }
    let lock = RwLock::new(0);
    twice(&lock, RwLock::write_async);
    twice(&lock, RwLock::read_async);
    twice(&lock, RwLock::upgradable_read_async);
}

/// A waiting writer bars newcomers, but not readers that hold the lock already.
#[test]
fn a_waiting_writer_bars_new_readers() {
    let lock = RwLock::new(());
    let reader = lock.read();
    let mut write = Box::pin(lock.write_async());
    assert!(poll(write.as_mut()).is_pending());
    assert!(lock.try_read().is_none());
    let mut late = Box::pin(lock.read_async());
    assert!(poll(late.as_mut()).is_pending());
    drop(lock.read_recursive());
    drop(reader);
    let Poll::Ready(writer) = poll(write.as_mut()) else { panic!("the readers are gone") };
    assert!(poll(late.as_mut()).is_pending());
    drop(writer);
    assert!(poll(late.as_mut()).is_ready());
    assert!(!lock.is_locked());
}

/// A waiter that gives up lets the others in, at any stage.
#[test]
fn giving_up_leaves_no_trace() {
    let lock = RwLock::new(());
    // The head gives up, which had barred readers. A reader that queues behind it gets in.
    let reader = lock.read();
    let mut write = Box::pin(lock.write_async());
    assert!(poll(write.as_mut()).is_pending());
    let mut late = Box::pin(lock.read_async());
    assert!(poll(late.as_mut()).is_pending());
    drop(write);
    assert!(poll(late.as_mut()).is_ready());
    // A waiter behind the head gives up. Then the head does, just after it was told that it may
    // lock.
    let mut write = Box::pin(lock.write_async());
    let mut second = Box::pin(lock.write_async());
    let mut third = Box::pin(lock.write_async());
    for wait in [&mut write, &mut second, &mut third] {
        assert!(poll(wait.as_mut()).is_pending());
    }
    drop(second);
    drop(reader);
    drop(write);
    assert!(poll(third.as_mut()).is_ready());
    // A caller gives up while it upgrades.
    let reader = lock.read();
    let Err(upgradable) = RwLockUpgradableReadGuard::try_upgrade(lock.upgradable_read()) else {
        panic!("somebody reads")
    };
    let start = Instant::now();
    let Err(upgradable) = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, SHORT) else {
        panic!("somebody reads")
    };
    assert!(start.elapsed() >= SHORT);
    assert!(lock.try_read().is_some(), "no longer barred");
    drop((upgradable, reader));
    assert!(lock.try_write().is_some());
}

#[test]
fn time_outs() {
    let lock = RwLock::new(());
    let reader = lock.read();
    let start = Instant::now();
    assert!(lock.try_write_for(SHORT).is_none());
    assert!(start.elapsed() >= SHORT);
    assert!(lock.try_write_until(start).is_none());
    assert!(lock.try_read_for(SHORT).is_some() && lock.try_upgradable_read_for(SHORT).is_some());
    drop(reader);
    let writer = lock.try_write_for(Duration::MAX).expect("free");
    assert!(lock.try_read_until(start).is_none() && lock.try_read_for(SHORT).is_none());
    assert!(lock.try_upgradable_read_until(start).is_none());
    assert!(lock.try_read_recursive_for(SHORT).is_none());
    drop(writer);
    assert!(lock.try_write().is_some());
}

#[test]
fn upgrading_waits_for_the_readers() {
    let lock = RwLock::new(0);
    thread::scope(|s| {
        let reader = lock.read();
        let upgrading = s.spawn(|| {
            let guard = lock.upgradable_read();
            *RwLockUpgradableReadGuard::upgrade(guard) += 1;
        });
        while lock.try_read().is_some() {
            thread::yield_now();
        }
        assert_eq!(*lock.read_recursive(), 0, "who reads already may read on");
        let late = s.spawn(|| assert_eq!(*lock.read(), 1));
        drop(reader);
        upgrading.join().unwrap();
        late.join().unwrap();
    });
}

#[test]
fn fair_unlocks() {
    let lock = RwLock::new(());
    let writer = lock.write();
    let mut wait = Box::pin(lock.write_async());
    assert!(poll(wait.as_mut()).is_pending());
    RwLockWriteGuard::unlock_fair(writer);
    assert!(lock.try_write().is_none() && lock.try_read().is_none(), "kept for who waits");
    let Poll::Ready(writer) = poll(wait.as_mut()) else { panic!("its turn") };
    drop(writer);
    RwLockReadGuard::unlock_fair(lock.read());
    RwLockWriteGuard::bump(&mut lock.write());
    assert!(lock.try_write().is_some());
}

#[test]
fn wakers_that_panic_poll_inline_or_drop_their_task() {
    let lock: &'static RwLock<i32> = Box::leak(Box::new(RwLock::new(0)));
    let writer = lock.write();
    let mut wait = Box::pin(lock.read_async());
    assert!(poll_with(wait.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    let mut behind = Box::pin(lock.read_async());
    assert!(poll_with(behind.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    // A waker that panics harms no other locker.
    drop(writer);
    // The head gets in and wakes the next waiter at the gate, whose waker panics.
    assert!(poll(wait.as_mut()).is_ready());
    assert!(poll(behind.as_mut()).is_ready());
    assert!(!lock.is_locked());

    let writer = lock.write();
    let tasks: Vec<_> = (0..3)
        .map(|i| {
            InlineTask::start(async move {
                if i == 1 {
                    *lock.write_async().await += 1;
                } else {
                    let _ = *lock.read_async().await;
                }
            })
        })
        .collect();
    drop(writer);
    assert!(tasks.iter().all(|task| task.is_done()) && *lock.read() == 1);

    let writer = lock.write();
    let doomed = std::sync::Arc::new(std::sync::Mutex::new(Some(Box::pin(lock.write_async()))));
    let waker = waker_fn({
        let doomed = doomed.clone();
        move || drop(doomed.lock().unwrap().take())
    });
    assert!(poll_with(doomed.lock().unwrap().as_mut().unwrap().as_mut(), &waker).is_pending());
    let (next, next_waker) = Counter::new();
    let mut wait = Box::pin(lock.read_async());
    assert!(poll_with(wait.as_mut(), &next_waker).is_pending());
    drop(writer);
    assert_eq!(next.get(), 1);
    assert!(poll(wait.as_mut()).is_ready());
}

#[test]
fn forgotten_guards_and_futures() {
    let lock: &'static RwLock<i32> = Box::leak(Box::new(RwLock::new(0)));
    std::mem::forget(lock.read());
    assert!(lock.try_write_for(SHORT).is_none() && lock.try_read().is_some());
    let mut forgotten = Box::pin(lock.write_async());
    assert!(poll(forgotten.as_mut()).is_pending());
    std::mem::forget(forgotten);
    assert!(lock.try_read_for(SHORT).is_none(), "barred for ever");
    assert_eq!(*lock.read_recursive(), 0);
}

/// Readers find what writers left whole, and every write is counted. Callers use all forms, and
/// some give up.
#[test]
fn stress_of_all_kinds() {
    fn write<'a>(
        mut guard: RwLockWriteGuard<'a, (usize, usize)>,
        writes: &AtomicUsize,
    ) -> RwLockWriteGuard<'a, (usize, usize)> {
        guard.0 += 1;
        if guard.0.is_multiple_of(8) {
            thread::yield_now();
        }
        guard.1 += 1;
        writes.fetch_add(1, SeqCst);
        guard
    }
    let lock = RwLock::new((0, 0));
    let writes = AtomicUsize::new(0);
    thread::scope(|s| {
        for seed in 1..=8 {
            let (lock, writes) = (&lock, &writes);
            s.spawn(move || {
                let mut rng = XorShift::new(seed);
                let reads = |pair: &(usize, usize)| assert_eq!(pair.0, pair.1);
                for _ in 0..sized(1_000) {
                    let short = Duration::from_micros(rng.below(100) as u64);
                    match rng.below(11) {
                        0 => reads(&lock.read()),
                        1 => reads(&block_on(lock.read_async())),
                        2 => drop(lock.try_read_for(short).map(|pair| reads(&pair))),
                        3 => drop(write(lock.write(), writes)),
                        4 => drop(write(block_on(lock.write_async()), writes)),
                        5 => drop(lock.try_write_for(short).map(|guard| write(guard, writes))),
                        6 => reads(&RwLockWriteGuard::downgrade(write(lock.write(), writes))),
                        7 => {
                            let guard = lock.upgradable_read();
                            reads(&guard);
                            drop(write(RwLockUpgradableReadGuard::upgrade(guard), writes));
                        }
                        8 => {
                            let guard = block_on(lock.upgradable_read_async());
                            match RwLockUpgradableReadGuard::try_upgrade_for(guard, short) {
                                Ok(guard) => {
                                    reads(&RwLockWriteGuard::downgrade_to_upgradable(write(
                                        guard, writes,
                                    )));
                                }
                                Err(guard) => reads(&RwLockUpgradableReadGuard::downgrade(guard)),
                            }
                        }
                        9 => RwLockWriteGuard::unlock_fair(write(lock.write(), writes)),
                        _ => {
                            let mut wait = Box::pin(lock.write_async());
                            if let Poll::Ready(guard) = poll(wait.as_mut()) {
                                drop(write(guard, writes));
                            }
                        }
                    }
                }
            });
        }
    });
    assert!(!lock.is_locked());
    let (a, b) = lock.into_inner();
    assert_eq!((a, b), (writes.load(SeqCst), writes.into_inner()));
}

/// An endless stream of readers does not keep a writer out, and one of writers does not keep a
/// reader out.
#[test]
fn nobody_starves() {
    let lock = RwLock::new(false);
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| while !*lock.read() {});
        }
        *lock.write() = true;
    });
    *lock.write() = false;
    let read = AtomicUsize::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                while read.load(SeqCst) == 0 {
                    drop(lock.write());
                }
            });
        }
        drop(lock.read());
        read.store(1, SeqCst);
    });
}
