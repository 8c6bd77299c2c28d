//! Locks, once-cells, oneshot channels.

use super::{Entry, entry};
use sateen::sync::{
    Condvar, Lazy, Mutex, Once, OnceLock, ReentrantMutex, RwLock, Semaphore, oneshot,
};
use std::sync::Arc;
use std::time::Duration;

pub(super) static ALL: &[Entry] = &[
    entry("Mutex: while it is held", |c| {
        let mutex = Mutex::new(c.item());
        let guard = mutex.lock();
        c.strike();
        drop(guard);
    }),
    entry("Mutex: value dropped", |c| drop(Mutex::new(c.bomb()))),
    entry("Mutex: value replaced", |c| {
        let mutex = Mutex::new(c.bomb());
        *mutex.lock() = c.bomb();
    }),
    entry("RwLock: while it is held", |c| {
        let lock = RwLock::new(c.item());
        let guard = lock.write();
        c.strike();
        drop(guard);
        drop(lock.read());
    }),
    entry("ReentrantMutex: while it is held", |c| {
        let mutex = ReentrantMutex::new(c.item());
        let (outer, inner) = (mutex.lock(), mutex.lock());
        c.strike();
        drop((outer, inner));
    }),
    entry("Semaphore: while permits are held", |c| {
        let semaphore = Semaphore::new(1);
        let permit = semaphore.acquire(1);
        c.strike();
        c.end(permit.is_ok());
    }),
    entry("Condvar: predicate", |c| {
        let (mutex, condvar) = (Mutex::new(0), Condvar::new());
        let mut guard = mutex.lock();
        let short = Duration::from_millis(1);
        _ = condvar.wait_while_for(
            &mut guard,
            |n| {
                c.strike();
                *n += 1;
                *n < 3
            },
            short,
        );
    }),
    entry("Once: closure", |c| {
        let once = Once::new();
        once.call_once(|| c.strike());
    }),
    entry("OnceLock: initialiser", |c| {
        let lock = OnceLock::new();
        lock.get_or_init(|| {
            c.strike();
            c.item()
        });
    }),
    entry("Lazy: initialiser", |c| {
        let lazy = Lazy::new(|| {
            c.strike();
            c.item()
        });
        _ = &*lazy;
    }),
    entry("oneshot: value dropped unread", |c| {
        let (sender, receiver) = oneshot::channel();
        _ = sender.send(c.bomb());
        c.end(receiver);
    }),
    entry("oneshot: value sent to nobody", |c| {
        let (sender, receiver) = oneshot::channel();
        drop(receiver);
        c.end(sender.send(c.bomb()));
    }),
    entry("oneshot: shared by several", |c| {
        let (sender, receiver) = oneshot::channel();
        let shared = receiver.shared();
        let other = shared.clone();
        _ = sender.send(c.bomb());
        _ = shared.get();
        c.end(shared);
        drop(other);
    }),
    entry("oneshot: packaged closure", |c| {
        let own = Arc::clone(c);
        let (task, result) = oneshot::package(move || own.strike());
        task();
        c.end(result.recv());
    }),
];
