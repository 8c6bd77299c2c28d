//! Waiting points: no change is missed, whatever its kind of fence; and what becomes of waits that
//! are given up.
#![cfg(not(loom))]

use sateen_sync::wait_queue::Position;
use sateen_sync::{WaitPoint, park};
use sateen_testkit::Counter;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

fn points() -> [WaitPoint; 2] {
    [WaitPoint::new(), WaitPoint::asymmetric()]
}

#[test]
fn a_wait_ends_with_its_time() {
    for point in points() {
        // Before the heavy fence of an asymmetric point, and after it.
        for time in [Duration::ZERO, Duration::from_micros(10), Duration::from_millis(2)] {
            let deadline = Instant::now() + time;
            while Instant::now() < deadline {
                point.wait(Some(deadline), || false);
            }
            point.wait(Some(deadline), || false);
            point.notify_one();
            assert!(!point.has_waiters());
        }
    }
}

#[test]
fn a_waiter_that_need_not_wait_leaves_no_trace() {
    for point in points() {
        point.wait(None, || true);
        assert!(!point.has_waiters());
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(pin!(point.wait_async(|| true)).poll(&mut cx), Poll::Ready(()));
        assert!(!point.has_waiters());
        // Beside one that waits.
        let mut other = pin!(point.wait_async(|| false));
        assert!(other.as_mut().poll(&mut cx).is_pending());
        point.wait(None, || true);
        assert!(point.has_waiters());
        point.notify_one();
        assert!(other.as_mut().poll(&mut cx).is_ready());
        assert!(!point.has_waiters());
    }
}

/// A future that was notified and is dropped notifies the next, whose waker panics.
#[test]
fn a_dropped_future_passes_its_notification_on() {
    for point in points() {
        let (bomb, waker) = Counter::bomb();
        let mut last = pin!(point.wait_async(|| false));
        {
            let mut first = pin!(point.wait_async(|| false));
            let mut cx = Context::from_waker(&waker);
            assert!(first.as_mut().poll(&mut cx).is_pending());
            assert!(last.as_mut().poll(&mut cx).is_pending());
            point.notify_one();
            assert_eq!(bomb.get(), 1);
        }
        assert_eq!(bomb.get(), 2);
        assert!(last.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        assert!(!point.has_waiters());
    }
}

#[test]
fn all_are_notified_though_wakers_panic() {
    for point in points() {
        let (bomb, waker) = Counter::bomb();
        let mut waits: Vec<_> = (0..40).map(|_| Box::pin(point.wait_async(|| false))).collect();
        for wait in &mut waits {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        point.notify_all();
        assert!(!point.has_waiters());
        assert_eq!(bomb.get(), waits.len());
        for wait in &mut waits {
            assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        }
    }
}

/// As many items are taken as are put in, and no thread sleeps beside one.
fn conserves(point: WaitPoint, put: impl Fn(&WaitPoint, &AtomicUsize) + Sync, at_front: bool) {
    const ITEMS: usize = if cfg!(miri) { 20 } else { 10_000 };
    let items = AtomicUsize::new(0);
    let take = || items.fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1)).is_ok();
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| (0..ITEMS).for_each(|_| put(&point, &items)));
        }
        for _ in 0..4 {
            s.spawn(|| {
                let mut waiter = pin!(point.waiter());
                for _ in 0..ITEMS / 2 {
                    let mut position = Position::Back;
                    while !take() {
                        let ready = || items.load(Relaxed) > 0;
                        if !at_front {
                            point.wait(None, ready);
                        } else if point.enqueue(
                            waiter.as_mut(),
                            position,
                            park::current_waker(),
                            ready,
                        ) {
                            waiter.as_mut().wait();
                            position = Position::Front;
                        }
                    }
                }
            });
        }
    });
    assert_eq!(items.load(SeqCst), 0);
}

#[test]
fn no_item_is_forgotten() {
    for point in points() {
        let fenced = |point: &WaitPoint, items: &AtomicUsize| {
            items.fetch_add(1, Relaxed);
            point.notify_one();
        };
        conserves(point, fenced, false);
    }
    let exchanged = |point: &WaitPoint, items: &AtomicUsize| {
        items.fetch_add(1, SeqCst);
        point.notify_one_unfenced();
    };
    conserves(WaitPoint::new(), exchanged, false);
    conserves(WaitPoint::new(), exchanged, true);
}

/// The second look at an asymmetric point runs outside of the queue's lock, where nothing keeps it
/// from waiting.
#[test]
fn a_look_that_waits_costs_no_notification() {
    if !sateen_base::fence::is_asymmetric() {
        return;
    }
    let (point, looks) = (WaitPoint::asymmetric(), AtomicUsize::new(0));
    let start = Instant::now();
    point.wait(Some(start + Duration::from_secs(20)), || {
        if looks.fetch_add(1, SeqCst) == 1 {
            // This wakes the thread itself. Then another wait takes its token.
            point.notify_one();
            park::park_until(Instant::now() + Duration::from_secs(20));
        }
        false
    });
    assert!(start.elapsed() < Duration::from_secs(10), "the notification is lost");
    assert_eq!(looks.into_inner(), 2);
}
