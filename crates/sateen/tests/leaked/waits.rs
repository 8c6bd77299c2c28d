//! What waits: locks, events, timers.

use crate::{Row, forget_pending, kept, round, row};
use sateen::sync::counter::LocalCounter;
use sateen::sync::timer::{sleep_async, timeout_async};
use sateen::sync::{
    AutoEvent, Barrier, Condvar, Event, Mutex, Once, OnceLock, ReentrantMutex, RwLock,
    RwLockAsync as _, Semaphore, WaitGroup, oneshot,
};
use std::future::pending;
use std::mem::forget;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(100_000);

pub(crate) static ALL: &[Row] = &[
    row("Mutex: lock future", |leaks| {
        let mutex = kept(Mutex::new(0));
        let held = mutex.lock();
        // Two more in either case: one that was woken and never comes keeps the fast path shut as
        // long as others wait, however many these are.
        (0..leaks + 2).for_each(|_| forget_pending(mutex.lock_async()));
        drop(held);
        round(1_000, || *mutex.lock() += 1)
    }),
    row("ReentrantMutex: guard", |leaks| {
        // The lock stays held by this thread, which may lock it again.
        let mutex = kept(ReentrantMutex::new(0));
        (0..leaks + 1).for_each(|_| forget(mutex.lock()));
        round(1_000, || *mutex.lock())
    }),
    row("RwLock: read guard", |leaks| {
        let lock = kept(RwLock::new(0));
        (0..leaks).for_each(|_| forget(lock.read()));
        round(1_000, || *lock.read())
    }),
    row("RwLock: read future", |leaks| {
        let lock = kept(RwLock::new(0));
        let held = lock.write();
        // Two more in either case, as for the mutex.
        (0..leaks + 2).for_each(|_| forget_pending(lock.read_async()));
        drop(held);
        round(1_000, || *lock.read())
    }),
    row("RwLock: write future", |leaks| {
        let lock = kept(RwLock::new(0));
        let held = lock.read();
        (0..leaks + 2).for_each(|_| forget_pending(lock.write_async()));
        drop(held);
        round(1_000, || *lock.try_read().map_or(&0, |_| &1))
    }),
    row("Semaphore: acquire future", |leaks| {
        let semaphore = kept(Semaphore::new(0));
        // The first of them is granted what comes, and keeps others from taking it.
        (0..leaks + 2).for_each(|_| forget_pending(semaphore.acquire_async(1)));
        semaphore.add_permits(1);
        round(1_000, || semaphore.try_acquire(1).is_ok())
    }),
    row("Semaphore: guard", |leaks| {
        let semaphore = kept(Semaphore::new(20_000));
        (0..leaks).for_each(|_| forget(semaphore.acquire(1)));
        round(1_000, || semaphore.try_acquire(1).is_ok())
    }),
    row("Event: wait future", |leaks| {
        let event = kept(Event::new());
        (0..leaks).for_each(|_| forget_pending(event.wait_async()));
        round(1_000, || {
            event.set();
            event.reset();
        })
    }),
    row("AutoEvent: wait future", |leaks| {
        let event = kept(AutoEvent::new());
        (0..leaks).for_each(|_| forget_pending(event.wait_async()));
        round(1_000, || {
            event.set();
            event.try_wait()
        })
    }),
    row("Barrier: wait future", |leaks| {
        let barrier = kept(Barrier::new(2));
        (0..leaks).for_each(|_| {
            forget_pending(barrier.wait_async());
            assert!(barrier.wait().is_leader());
        });
        round(500, || {
            forget_pending(barrier.wait_async());
            barrier.wait().is_leader()
        })
    }),
    row("Condvar: wait future", |leaks| {
        let (mutex, condvar) = kept((Mutex::new(0), Condvar::new()));
        // Two more, as above: they wait for the mutex once they are notified.
        (0..leaks + 2).for_each(|_| forget_pending(condvar.wait_async(mutex.lock())));
        round(1_000, || {
            *mutex.lock() += 1;
            condvar.notify_one()
        })
    }),
    row("Once: wait future", |leaks| {
        let once = kept(Once::new());
        (0..leaks).for_each(|_| forget_pending(once.wait_async()));
        once.call_once(|| ());
        round(1_000, || once.call_once(|| ()))
    }),
    row("OnceLock: wait future", |leaks| {
        let lock = kept(OnceLock::new());
        (0..leaks).for_each(|_| forget_pending(lock.wait_async()));
        round(1_000, || *lock.get_or_init(|| 1))
    }),
    row("oneshot: future of a shared receiver", |leaks| {
        let (sender, receiver) = oneshot::channel();
        let receiver = kept(receiver.shared());
        (0..leaks).for_each(|_| forget_pending(receiver.get_async()));
        (0..leaks).for_each(|_| forget(receiver.clone()));
        sender.send(1).expect("a receiver");
        round(1_000, || receiver.get().is_ok())
    }),
    row("WaitGroup: handle", |leaks| {
        let group = WaitGroup::new();
        (0..leaks).for_each(|_| forget(group.clone()));
        round(1_000, move || drop(group.clone()))
    }),
    row("WaitGroup: wait future", |leaks| {
        let group = WaitGroup::new();
        (0..leaks).for_each(|_| forget_pending(group.clone().wait_async()));
        round(1_000, move || drop(group.clone()))
    }),
    row("LocalCounter", |leaks| {
        let total = kept(AtomicU64::new(0));
        (0..leaks).for_each(|_| forget(LocalCounter::new(total)));
        round(1_000, || LocalCounter::new(total).increment())
    }),
    // The timers of a thread outside of any runtime.
    row("sleep future", |leaks| {
        (0..leaks).for_each(|_| forget_pending(sleep_async(2 * LONG)));
        round(200, || Box::pin(sleep_async(LONG)))
    }),
    row("timeout future", |leaks| {
        (0..leaks).for_each(|_| forget_pending(timeout_async(2 * LONG, pending::<()>())));
        round(200, || Box::pin(timeout_async(LONG, pending::<()>())))
    }),
];
