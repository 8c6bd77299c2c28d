//! Auto-reset event, barrier and wait group.
#![cfg(not(loom))]

mod common;

use common::{InlineTask, block_on};
use sateen_sync::{AutoEvent, Barrier, WaitGroup};
use sateen_testkit::{poll, poll_with, sized, waker_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn one_set_lets_one_through() {
    let event = AutoEvent::default();
    event.set();
    event.set();
    assert!(event.try_wait());
    assert!(!event.try_wait(), "two sets while nobody waits are one");
    event.set();
    event.reset();
    assert!(!event.wait_timeout(SHORT));
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(event.wait_async())).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    event.set();
    event.set();
    event.reset();
    let through: Vec<_> = waits.iter_mut().map(|wait| poll(wait.as_mut()).is_ready()).collect();
    assert_eq!(through, [true, true, false]);
    assert_eq!(format!("{event:?}"), "AutoEvent { set: false, .. }");
}

#[test]
fn one_let_through_and_dropped_lets_the_next_through() {
    let event = AutoEvent::new();
    let mut waits: Vec<_> = (0..2).map(|_| Box::pin(event.wait_async())).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    event.set();
    drop(waits.remove(0));
    assert!(poll(waits[0].as_mut()).is_ready());
    // If no waiter is left, the event stays set.
    let mut last = Box::pin(event.wait_async());
    assert!(poll(last.as_mut()).is_pending());
    event.set();
    drop(last);
    assert!(event.try_wait());
}

#[test]
fn bad_wakers_of_an_auto_event() {
    static EVENT: AutoEvent = AutoEvent::new();
    let mut wait = Box::pin(EVENT.wait_async());
    assert!(poll_with(wait.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    assert!(catch_unwind(|| EVENT.set()).is_err());
    assert!(poll(wait.as_mut()).is_ready());
    // Each task is polled inside its waker, and lets the next one through there.
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            InlineTask::start(async {
                EVENT.wait_async().await;
                EVENT.set();
            })
        })
        .collect();
    EVENT.set();
    assert!(tasks.iter().all(|task| task.is_done()));
    assert!(EVENT.try_wait());
    let mut forgotten = Box::pin(EVENT.wait_async());
    assert!(poll(forgotten.as_mut()).is_pending());
    std::mem::forget(forgotten);
    EVENT.set();
    assert!(!EVENT.try_wait(), "it was for the forgotten one");
}

/// A token goes round eight threads. No thread misses it, and only one has it at a time.
#[test]
fn stress_a_token_goes_round() {
    let event = AutoEvent::new();
    let (holders, passes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    event.set();
    thread::scope(|s| {
        for me in 0..8 {
            let (event, holders, passes) = (&event, &holders, &passes);
            s.spawn(move || {
                for _ in 0..sized(2_000) {
                    match me % 3 {
                        0 => event.wait(),
                        1 => block_on(event.wait_async()),
                        _ => while !event.wait_timeout(Duration::from_micros(100)) {},
                    }
                    assert_eq!(holders.fetch_add(1, SeqCst), 0);
                    passes.fetch_add(1, SeqCst);
                    holders.fetch_sub(1, SeqCst);
                    event.set();
                }
            });
        }
    });
    assert_eq!(passes.into_inner(), 8 * sized(2_000));
    assert!(event.try_wait() && !event.try_wait());
}

#[test]
fn a_barrier_of_nobody_and_of_one() {
    for n in [0, 1] {
        let barrier = Barrier::new(n);
        assert!(barrier.wait().is_leader());
        assert!(barrier.wait_timeout(Duration::ZERO).unwrap().is_leader());
        assert!(block_on(barrier.wait_async()).is_leader());
    }
}

#[test]
fn who_gives_up_takes_its_arrival_back() {
    let barrier = Barrier::new(2);
    assert_eq!(barrier.wait_timeout(SHORT), None);
    let mut first = Box::pin(barrier.wait_async());
    assert!(poll(first.as_mut()).is_pending());
    drop(first);
    drop(barrier.wait_async()); // The future was never polled, so it never arrived.
    let mut first = Box::pin(barrier.wait_async());
    assert!(poll(first.as_mut()).is_pending());
    assert!(barrier.wait().is_leader());
    // The round is complete. Dropping the future now takes nothing back.
    drop(first);
    let mut next = Box::pin(barrier.wait_async());
    assert!(poll(next.as_mut()).is_pending());
    assert!(barrier.wait().is_leader());
    assert!(poll(next.as_mut()).is_ready());
    assert!(catch_unwind(AssertUnwindSafe(|| poll(next.as_mut()).is_ready())).is_err());
    let mut forgotten = Box::pin(barrier.wait_async());
    assert!(poll(forgotten.as_mut()).is_pending());
    std::mem::forget(forgotten);
    assert!(barrier.wait().is_leader(), "it has arrived");
    assert_eq!(format!("{barrier:?}"), "Barrier { n: 2, .. }");
}

#[test]
fn a_waker_that_panics_releases_the_round() {
    let barrier = Barrier::new(3);
    let mut waits: Vec<_> = (0..2).map(|_| Box::pin(barrier.wait_async())).collect();
    for wait in &mut waits {
        assert!(poll_with(wait.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| barrier.wait())).is_err());
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
}

/// Eight threads go through many rounds. No thread is a round ahead, and each round has one leader.
#[test]
fn stress_rounds() {
    const ROUNDS: usize = sized(500);
    let barrier = Barrier::new(8);
    let (arrived, leaders) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|s| {
        for me in 0..8 {
            let (barrier, arrived, leaders) = (&barrier, &arrived, &leaders);
            s.spawn(move || {
                for round in 0..ROUNDS {
                    arrived.fetch_add(1, SeqCst);
                    let result = match me % 3 {
                        0 => barrier.wait(),
                        1 => block_on(barrier.wait_async()),
                        _ => loop {
                            if let Some(result) = barrier.wait_timeout(Duration::from_micros(50)) {
                                break result;
                            }
                        },
                    };
                    leaders.fetch_add(usize::from(result.is_leader()), SeqCst);
                    let arrived = arrived.load(SeqCst);
                    assert!(arrived >= 8 * (round + 1) && arrived < 8 * (round + 2));
                }
            });
        }
    });
    assert_eq!(leaders.into_inner(), ROUNDS);
}

#[test]
fn counting() {
    let group = WaitGroup::new();
    assert_eq!(group.count(), 1);
    group.add(2);
    group.add(0);
    let mut early = Box::pin(group.clone().wait_async());
    let mut late = Box::pin(group.clone().wait_async());
    assert_eq!(group.count(), 5);
    assert!(poll(early.as_mut()).is_pending() && poll(late.as_mut()).is_pending());
    group.done();
    drop(late);
    assert!(poll(early.as_mut()).is_pending());
    group.done();
    assert_eq!(group.count(), 1);
    let other = group.clone();
    assert!(!group.wait_timeout(SHORT));
    drop(other);
    assert!(poll(early.as_mut()).is_ready());
}

#[test]
fn the_count_does_not_overflow() {
    const MOST: usize = usize::MAX / 2;
    let group = WaitGroup::new();
    group.add(MOST - 1);
    assert!(catch_unwind(AssertUnwindSafe(|| group.add(1))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| group.add(usize::MAX))).is_err());
    assert_eq!(group.count(), MOST);
}

#[test]
fn groups() {
    let group = WaitGroup::default();
    let other = group.clone();
    group.add(1);
    let waiter = thread::spawn({
        let group = group.clone();
        move || group.wait()
    });
    let mut wait = Box::pin(group.wait_async());
    assert!(poll(wait.as_mut()).is_pending());
    other.done();
    assert!(poll(wait.as_mut()).is_pending());
    drop(other);
    waiter.join().unwrap();
    assert!(poll(wait.as_mut()).is_ready());
    // Too many calls of `done` are reported while that is possible. Dropping works without a
    // report.
    let group = WaitGroup::new();
    group.done();
    assert!(catch_unwind(AssertUnwindSafe(|| group.done())).is_err());
    drop(group);
    let forgotten = WaitGroup::new();
    std::mem::forget(forgotten.clone());
    assert!(!forgotten.wait_timeout(SHORT));
}

/// Eight threads add and finish while others wait. Threads that waited from the start see all that
/// was done.
#[test]
fn stress_counting() {
    for _ in 0..sized(300) {
        let (group, done) = (WaitGroup::new(), std::sync::Arc::new(AtomicUsize::new(0)));
        for me in 0..8 {
            let (group, done) = (group.clone(), done.clone());
            thread::spawn(move || {
                let more = (me % 2 == 0).then(|| group.clone());
                done.fetch_add(1, SeqCst);
                drop(group);
                drop(more);
            });
        }
        block_on(group.wait_async());
        assert_eq!(done.load(SeqCst), 8);
    }
}
