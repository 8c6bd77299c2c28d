//! Models of the wait queue and of the event built on it.
#![cfg(loom)]

mod loom_common;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use loom_common::poll;
use sateen_sync::wait_queue::{Position, Waiter};
use sateen_sync::{Event, WaitQueue, block_on, park};
use sateen_testkit::model;
use std::pin::pin;

/// The condition changes while a waiter joins. The waiter is notified, or it does not wait.
#[test]
fn no_wake_up_is_lost() {
    model(3, || {
        let shared = Arc::new((WaitQueue::new(), AtomicUsize::new(0)));
        let notifier = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.1.store(1, Ordering::Release);
                shared.0.notify_one();
            }
        });
        shared.0.wait_unless(|| shared.1.load(Ordering::Acquire) == 1);
        assert_eq!(shared.1.load(Ordering::Relaxed), 1);
        notifier.join().unwrap();
    });
}

/// A waiter is dropped while it is being notified. It hands the permit to the next waiter.
#[test]
fn a_dropped_waiter_passes_the_permit_on() {
    model(3, || {
        let queue = Arc::new(WaitQueue::new());
        let own = queue.clone();
        let mut first = Box::pin(own.wait_unless_async(|| false));
        let mut second = Box::pin(own.wait_unless_async(|| false));
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        let notifier = thread::spawn(move || assert!(queue.notify_one()));
        drop(first);
        notifier.join().unwrap();
        assert!(poll(second.as_mut()).is_ready(), "the permit was lost");
        assert!(own.is_empty());
    });
}

/// A waiter's time runs out while it is being notified. Either it has the permit, or it has left
/// and the permit went to the next waiter.
#[test]
fn a_timed_wait_loses_no_permit() {
    model(3, || {
        let queue = Arc::new(WaitQueue::new());
        let own = queue.clone();
        let mut first = pin!(Waiter::new(&own));
        let mut second = Box::pin(own.wait_unless_async(|| false));
        first.as_mut().enqueue(Position::Back, park::current_waker(), || false);
        assert!(poll(second.as_mut()).is_pending());
        let notifier = thread::spawn(move || assert!(queue.notify_one()));
        let notified = first.wait_until(std::time::Instant::now());
        notifier.join().unwrap();
        assert_ne!(notified, poll(second.as_mut()).is_ready());
    });
}

/// A future's waker is replaced while the future is being notified. Either the newest waker is
/// woken, or the poll that brings it finds the notification.
#[test]
fn the_newest_waker_is_woken() {
    model(3, || {
        let queue = Arc::new(WaitQueue::new());
        let own = queue.clone();
        let mut wait = pin!(own.wait_unless_async(|| false));
        assert!(poll(wait.as_mut()).is_pending());
        let notifier = thread::spawn(move || assert!(queue.notify_one()));
        block_on(wait);
        notifier.join().unwrap();
    });
}

/// All waiters are notified once, while one of them leaves.
#[test]
fn notify_all_while_one_leaves() {
    model(3, || {
        let queue = Arc::new(WaitQueue::new());
        let own = queue.clone();
        let mut waits = [0; 3].map(|_| Box::pin(own.wait_unless_async(|| false)));
        for wait in &mut waits {
            assert!(poll(wait.as_mut()).is_pending());
        }
        let notifier = thread::spawn(move || queue.notify_all());
        let [leaver, mut a, mut b] = waits;
        drop(leaver);
        let count = notifier.join().unwrap();
        assert!(count == 2 || count == 3);
        assert!(poll(a.as_mut()).is_ready() && poll(b.as_mut()).is_ready());
    });
}

/// Setting an event releases a thread, which sees what came before.
#[test]
fn an_event_publishes() {
    model(3, || {
        let shared = Arc::new((Event::new(), UnsafeCell::new(0)));
        let setter = thread::spawn({
            let shared = shared.clone();
            move || {
                // SAFETY: the model checks that no thread reads before the event is set.
                shared.1.with_mut(|d| unsafe { *d = 1 });
                shared.0.set();
            }
        });
        shared.0.wait();
        // SAFETY: as above.
        assert_eq!(shared.1.with(|d| unsafe { *d }), 1);
        setter.join().unwrap();
    });
}

/// The word still tells of waiters when a setter that found one has gone. The next waiter joins
/// without an exchange, and is found.
#[test]
fn an_event_is_waited_for_twice() {
    model(2, || {
        let events = Arc::new([Event::new(), Event::new()]);
        let setter = thread::spawn({
            let events = events.clone();
            move || {
                events[0].set();
                events[1].wait();
                events[0].set();
                // Whether or not it was waited for, the word lets later callers pass.
                assert!(events[0].is_set());
            }
        });
        events[0].wait();
        events[0].reset();
        events[1].set();
        events[0].wait();
        setter.join().unwrap();
    });
}

/// A thread and a future wait; both are released.
#[test]
fn an_event_releases_everybody() {
    model(2, || {
        let event = Arc::new(Event::new());
        let waiter = thread::spawn({
            let event = event.clone();
            move || block_on(event.wait_async())
        });
        let setter = thread::spawn({
            let event = event.clone();
            move || event.set()
        });
        event.wait();
        waiter.join().unwrap();
        setter.join().unwrap();
    });
}

/// `set` releases a waiter even if the event is reset at once. A waiter that comes after the reset
/// is not released by the `set` before it.
#[test]
fn set_and_reset() {
    model(2, || {
        let event = Arc::new(Event::new());
        let own = event.clone();
        let mut early = Box::pin(own.wait_async());
        assert!(poll(early.as_mut()).is_pending());
        let setters = [0; 2].map(|_| {
            let event = event.clone();
            thread::spawn(move || event.set())
        });
        while !event.is_set() {
            thread::yield_now();
        }
        for setter in setters {
            setter.join().unwrap();
        }
        event.reset();
        let mut late = Box::pin(own.wait_async());
        assert!(poll(late.as_mut()).is_pending());
        assert!(poll(early.as_mut()).is_ready());
        assert!(poll(late.as_mut()).is_pending());
        event.set();
        assert!(poll(late.as_mut()).is_ready());
    });
}
