//! Models of `OnceLock`, the auto-reset event, the barrier and the wait group.
#![cfg(loom)]

mod loom_common;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use loom_common::poll;
use sateen_sync::{AutoEvent, Barrier, OnceLock, WaitGroup, block_on, oneshot};
use sateen_testkit::model;

/// Two threads initialise the value. One of them does it, and both read it.
#[test]
fn initialised_once() {
    model(3, || {
        let cell = Arc::new(OnceLock::new());
        let other = thread::spawn({
            let cell = cell.clone();
            move || *cell.get_or_init(|| 1)
        });
        let mine = *cell.get_or_init(|| 2);
        assert_eq!(other.join().unwrap(), mine);
        assert_eq!(cell.get(), Some(&mine));
    });
}

/// One initialiser fails while another waits. The other one is woken and begins.
#[test]
fn the_next_begins() {
    model(3, || {
        let cell = Arc::new(OnceLock::new());
        let other = thread::spawn({
            let cell = cell.clone();
            move || drop(cell.get_or_try_init(|| Err::<i32, ()>(())).copied())
        });
        assert_eq!(*cell.get_or_init(|| 2), 2);
        other.join().unwrap();
    });
}

/// One thread waits for a value that another one makes.
#[test]
fn waiting_for_a_value() {
    model(3, || {
        let cell = Arc::new(OnceLock::new());
        let other = thread::spawn({
            let cell = cell.clone();
            move || cell.set(1).unwrap()
        });
        assert_eq!(*cell.wait(), 1);
        other.join().unwrap();
    });
}

/// Two calls of `set`, two waiters: each `set` lets one waiter through.
#[test]
fn an_auto_event_lets_one_through() {
    model(2, || {
        let event = Arc::new(AutoEvent::new());
        let own = event.clone();
        let mut first = Box::pin(own.wait_async());
        assert!(poll(first.as_mut()).is_pending());
        let setter = thread::spawn({
            let event = event.clone();
            move || event.set()
        });
        let waiter = thread::spawn(move || event.wait());
        drop(first); // It may be let through or not: the one `set` is for another waiter.
        waiter.join().unwrap();
        setter.join().unwrap();
        assert!(!own.try_wait());
    });
}

/// A thread sets the event while another one begins to wait.
#[test]
fn an_auto_event_is_not_missed() {
    model(3, || {
        let event = Arc::new(AutoEvent::new());
        let setter = thread::spawn({
            let event = event.clone();
            move || event.set()
        });
        event.wait();
        setter.join().unwrap();
        assert!(!event.try_wait());
    });
}

/// Two rounds of two threads. Each round has one leader, and both threads see what came before.
#[test]
fn a_barrier_twice() {
    model(2, || {
        let shared = Arc::new((Barrier::new(2), UnsafeCell::new(0)));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                // SAFETY: the model checks that no thread reads before the round is complete.
                shared.1.with_mut(|n| unsafe { *n = 1 });
                let first = shared.0.wait().is_leader();
                (first, shared.0.wait().is_leader())
            }
        });
        let first = shared.0.wait().is_leader();
        // SAFETY: as above.
        assert_eq!(shared.1.with(|n| unsafe { *n }), 1);
        let second = shared.0.wait().is_leader();
        assert_eq!(other.join().unwrap(), (!first, !second));
    });
}

/// A thread arrives for the next round while the leader still releases this one. It stays.
#[test]
fn a_barrier_early() {
    model(3, || {
        let barrier = Arc::new(Barrier::new(2));
        let own = barrier.clone();
        let mut first = Box::pin(own.wait_async());
        assert!(poll(first.as_mut()).is_pending());
        let other = thread::spawn(move || barrier.wait().is_leader());
        let mut early = Box::pin(own.wait_async());
        if poll(early.as_mut()).is_pending() {
            assert!(other.join().unwrap());
            assert!(poll(early.as_mut()).is_pending(), "released with the round before");
        } else {
            own.wait();
            other.join().unwrap();
        }
        assert!(poll(first.as_mut()).is_ready());
    });
}

/// The last two finish while one thread waits. That thread sees what they did.
#[test]
fn a_wait_group() {
    model(2, || {
        let group = WaitGroup::new();
        let shared = Arc::new(((), UnsafeCell::new(0), UnsafeCell::new(0)));
        let others = [0, 1].map(|which| {
            let (group, shared) = (group.clone(), shared.clone());
            thread::spawn(move || {
                let mine = if which == 0 { &shared.1 } else { &shared.2 };
                // SAFETY: the model checks that no thread reads before both are done.
                mine.with_mut(|n| unsafe { *n = 1 });
                drop(group);
            })
        });
        group.wait();
        // SAFETY: as above.
        assert_eq!((shared.1.with(|n| unsafe { *n }), shared.2.with(|n| unsafe { *n })), (1, 1));
        for other in others {
            other.join().unwrap();
        }
    });
}
