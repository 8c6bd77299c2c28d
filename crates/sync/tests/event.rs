//! The event: how it is set and reset, and its waiters.
#![cfg(not(loom))]

mod common;

use common::block_on;
use sateen_sync::Event;
use sateen_testkit::{poll, sized, waker_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

#[test]
fn set_reset_set() {
    let event = Event::default();
    assert!(!event.is_set());
    assert_eq!(format!("{event:?}"), "Event { set: false, .. }");
    for _ in 0..2 {
        event.set();
        event.set();
        assert!(event.is_set());
        event.wait();
        assert!(poll(Box::pin(event.wait_async()).as_mut()).is_ready());
        event.reset();
        event.reset();
        assert!(!event.is_set());
    }
}

#[test]
fn those_who_waited_are_released_those_who_come_later_are_not() {
    let event = Event::new();
    let mut early = Box::pin(event.wait_async());
    let mut never_polled = Box::pin(event.wait_async());
    assert!(poll(early.as_mut()).is_pending());
    event.set();
    event.reset();
    let mut late = Box::pin(event.wait_async());
    assert!(poll(late.as_mut()).is_pending());
    assert!(poll(never_polled.as_mut()).is_pending());
    assert!(poll(early.as_mut()).is_ready());
    assert!(poll(late.as_mut()).is_pending());
    event.set();
    assert!(poll(late.as_mut()).is_ready());
    assert!(poll(never_polled.as_mut()).is_ready());
}

/// A waker resets the event and waits again while other waiters are still being woken.
#[test]
fn a_waker_that_resets() {
    static EVENT: Event = Event::new();
    let mut waits: Vec<_> = (0..40).map(|_| Box::pin(EVENT.wait_async())).collect();
    for wait in &mut waits {
        let waker = waker_fn(|| EVENT.reset());
        assert!(sateen_testkit::poll_with(wait.as_mut(), &waker).is_pending());
    }
    EVENT.set();
    assert!(!EVENT.is_set());
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
}

#[test]
fn a_panicking_waker_releases_the_others() {
    let event = Event::new();
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(event.wait_async())).collect();
    for wait in &mut waits {
        assert!(
            sateen_testkit::poll_with(wait.as_mut(), &waker_fn(|| panic!("waker"))).is_pending()
        );
    }
    assert!(catch_unwind(AssertUnwindSafe(|| event.set())).is_err());
    assert!(event.is_set());
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
}

/// Many rounds: threads and futures wait for the event of each round, and none misses one.
#[test]
fn stress_rounds() {
    const CROWD: usize = 7;
    const ROUNDS: usize = sized(500);
    let events: Vec<Event> = (0..ROUNDS).map(|_| Event::new()).collect();
    let arrived = AtomicUsize::new(0);
    thread::scope(|s| {
        for me in 0..CROWD {
            let (events, arrived) = (&events, &arrived);
            s.spawn(move || {
                for (round, event) in events.iter().enumerate() {
                    if me % 2 == 0 {
                        event.wait()
                    } else {
                        block_on(event.wait_async())
                    }
                    // The waiter sees what the setter did before.
                    assert!(arrived.load(SeqCst) >= round * CROWD);
                    arrived.fetch_add(1, SeqCst);
                }
            });
        }
        for (round, event) in events.iter().enumerate() {
            event.set();
            while arrived.load(SeqCst) < (round + 1) * CROWD {
                thread::yield_now();
            }
        }
    });
}
