//! Locks, once-cells, oneshot channels.

use super::{Entry, entry};
use sateen::spawn;
use sateen::sync::{
    Condvar, Lazy, Mutex, Once, OnceLock, ReentrantMutex, RwLock, Semaphore, block_on, oneshot,
};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

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
        let waiting = Arc::new(AtomicUsize::new(0));
        let waiters = [(); 2].map(|()| {
            let (own, shared, waiting) = (Arc::clone(c), shared.clone(), Arc::clone(&waiting));
            spawn(move || {
                _ = block_on(counted(shared.get_async(), &waiting));
                own.end(shared);
            })
        });
        // All wait before anything is sent.
        let limit = Instant::now() + Duration::from_secs(20);
        while waiting.load(SeqCst) < waiters.len() {
            assert!(Instant::now() < limit, "the waiters do not wait");
            sateen::yield_now();
            thread::yield_now();
        }
        _ = sender.send(c.bomb());
        _ = shared.get();
        c.end(shared);
        for waiter in waiters {
            c.end(waiter.join());
        }
    }),
    entry("oneshot: packaged closure", |c| {
        let own = Arc::clone(c);
        let (task, result) = oneshot::package(move || own.strike());
        task();
        c.end(result.recv());
    }),
];

/// The future, which counts once in `waiting` when it begins to wait.
async fn counted<F: Future>(future: F, waiting: &AtomicUsize) -> F::Output {
    let (mut future, mut new) = (pin!(future), true);
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() && std::mem::take(&mut new) {
            waiting.fetch_add(1, SeqCst);
        }
        polled
    })
    .await
}
