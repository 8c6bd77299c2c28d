//! The user's own wakers: called, cloned and dropped by the code that wakes.

use super::{Entry, entry};
use crate::cell::Cell;
use sateen::channel::{bounded, unbounded};
use sateen::sync::{AutoEvent, Event, Mutex, RwLock, RwLockAsync, Semaphore, oneshot};
use sateen::{sleep_async, spawn, timeout_async};
use sateen_testkit::{Counter, waker_fn};
use std::future::{Future, IntoFuture};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

pub(super) static ALL: &[Entry] = &[
    entry("waker: of an event", |c| {
        let event = Event::new();
        woken(c, event.wait_async(), || event.set());
    }),
    entry("waker: of an auto event", |c| {
        let event = AutoEvent::new();
        woken(c, event.wait_async(), || event.set());
    }),
    entry("waker: of a mutex", |c| {
        let mutex = Mutex::new(());
        let guard = mutex.lock();
        woken(c, mutex.lock_async(), || drop(guard));
    }),
    entry("waker: of a rwlock", |c| {
        let lock = RwLock::new(());
        let guard = lock.write();
        woken(c, lock.read_async(), || drop(guard));
    }),
    entry("waker: of a semaphore", |c| {
        let semaphore = Semaphore::new(0);
        woken(c, semaphore.acquire_async(1), || semaphore.add_permits(1));
    }),
    entry("waker: of a closed semaphore", |c| {
        let semaphore = Semaphore::new(0);
        woken(c, semaphore.acquire_async(1), || semaphore.close());
    }),
    entry("waker: of a promise", |c| {
        let (sender, receiver) = oneshot::channel();
        woken(c, receiver.into_future(), || _ = sender.send(c.item()));
    }),
    entry("waker: of a broken promise", |c| {
        let (sender, receiver) = oneshot::channel::<()>();
        woken(c, receiver.into_future(), || drop(sender));
    }),
    entry("waker: of a shared receiver", |c| {
        let (sender, receiver) = oneshot::channel();
        let shared = receiver.shared();
        beside(c, &shared, || _ = sender.send(c.item()));
    }),
    entry("waker: of a shared receiver that gets nothing", |c| {
        let (sender, receiver) = oneshot::channel::<()>();
        let shared = receiver.shared();
        beside(c, &shared, || drop(sender));
    }),
    entry("waker: of a channel's receiver", |c| {
        let (sender, receiver) = unbounded();
        woken(c, receiver.recv_async(), || _ = sender.send(c.item()));
    }),
    entry("waker: of a rendezvous", |c| {
        let (sender, receiver) = bounded(0);
        woken(c, sender.send_async(c.item()), || _ = receiver.try_recv());
    }),
    entry("waker: of a rendezvous, by a receiver that leaves", |c| {
        let (sender, receiver) = bounded(0);
        woken(c, sender.send_async(c.item()), || {
            let mut leaves = pin!(receiver.recv_async());
            let polled = leaves.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        });
    }),
    entry("waker: of a rendezvous, of the next receiver", |c| {
        let (sender, receiver) = bounded(0);
        let mut first = Box::pin(receiver.recv_async());
        let polled = first.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        woken(c, receiver.recv_async(), || {
            _ = sender.try_send(c.item());
            drop(first);
        });
    }),
    entry("waker: of a channel that is closed", |c| {
        let (sender, receiver) = bounded::<()>(1);
        woken(c, receiver.recv_async(), || drop(sender));
    }),
    entry("waker: of a task's handle", |c| {
        let event = Arc::new(Event::new());
        let inner = Arc::clone(&event);
        let task = spawn(move || inner.wait());
        woken(c, task, || event.set());
    }),
    entry("waker: of a timer", |c| {
        woken(c, sleep_async(Duration::from_millis(1)), || ());
    }),
    entry("waker: of a limit in time", |c| {
        let never = timeout_async(Duration::from_millis(1), std::future::pending::<()>());
        woken(c, never, || ());
    }),
];

/// A waker that strikes when it is woken and when it is dropped.
fn hostile(cell: &Arc<Cell>) -> Waker {
    struct OnDrop(Arc<Cell>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.strike();
        }
    }
    let on_drop = OnDrop(Arc::clone(cell));
    waker_fn(move || on_drop.0.strike())
}

/// Polls `future` with a hostile waker, wakes it by `wake`, and polls until it is ready.
fn woken<F: IntoFuture>(cell: &Arc<Cell>, future: F, wake: impl FnOnce()) {
    let mut future = pin!(future.into_future());
    let second = hostile(cell);
    // The second waker replaces the first, which is dropped meanwhile.
    for waker in [hostile(cell), second.clone()] {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return cell.end(value);
        }
    }
    wake();
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&second)) {
            Poll::Ready(value) => return cell.end(value),
            // The wake-up may still be on its way. The loop polls in any case.
            Poll::Pending if Instant::now() < limit => {
                sateen::yield_now();
                thread::yield_now();
            }
            Poll::Pending => panic!("never ready"),
        }
    }
}

/// [`woken`], and a second waiter beside it, which is woken whatever the first one's waker does.
fn beside<T>(cell: &Arc<Cell>, shared: &oneshot::SharedReceiver<T>, wake: impl FnOnce()) {
    let noted = Arc::new(Counter::default());
    let mut other = pin!(shared.get_async());
    assert!(noted.poll(other.as_mut()).is_pending());
    let mut called = false;
    let hostile = AssertUnwindSafe(|| {
        woken(cell, shared.get_async(), || {
            called = true;
            wake();
        });
    });
    let caught = catch_unwind(hostile);
    assert_eq!(noted.get(), usize::from(called), "the other waiter");
    if let Err(panic) = caught {
        resume_unwind(panic);
    }
}
