//! Models of the timer queue: it fires while timers are disarmed, armed again or dropped.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use sateen_sync::timer::{Timer, TimerQueue};
use sateen_testkit::{Counter, model};
use std::pin::Pin;
use std::task::Waker;
use std::time::{Duration, Instant};

type Boxed = Pin<Box<Timer<Arc<TimerQueue>>>>;

fn timer(queue: &Arc<TimerQueue>, at: Instant, waker: &Waker) -> Boxed {
    let mut timer = Box::pin(Timer::new(queue.clone()));
    timer.as_mut().arm(at, waker.clone());
    timer
}

fn setting() -> (Arc<TimerQueue>, Instant, std::sync::Arc<Counter>, Waker) {
    let (counter, waker) = Counter::new();
    (Arc::new(TimerQueue::new()), Instant::now(), counter, waker)
}

/// The owner leaves while others fire the timer. Either the timer was counted, or it was not in the
/// queue any more.
#[test]
fn firing_against_disarming() {
    model(3, || {
        let (queue, now, counter, waker) = setting();
        let mut first = timer(&queue, now, &waker);
        let second = timer(&queue, now + Duration::from_micros(1), &waker);
        let firing = [0; 2].map(|_| {
            let queue = queue.clone();
            thread::spawn(move || queue.fire(now + Duration::from_micros(1)))
        });
        first.as_mut().disarm();
        let fired = usize::from(first.has_fired());
        drop(first);
        let counted: usize = firing.map(|thread| thread.join().unwrap()).iter().sum();
        assert_eq!(counted, fired + 1);
        assert!(second.has_fired() && queue.is_empty());
        assert_eq!(counter.get(), counted);
    });
}

/// The owner sees without the lock that the timer has fired, and uses the node again at once.
#[test]
fn armed_again_as_soon_as_it_has_fired() {
    model(3, || {
        let (queue, now, counter, waker) = setting();
        let mut own = timer(&queue, now, &waker);
        let firing = thread::spawn({
            let queue = queue.clone();
            move || queue.fire(now)
        });
        while !own.has_fired() {
            thread::yield_now();
        }
        own.as_mut().disarm();
        own.as_mut().arm(now, waker);
        let fired = firing.join().unwrap();
        assert!(own.is_armed());
        assert_eq!(queue.fire(now), 1);
        assert!(own.has_fired());
        assert_eq!((fired, counter.get()), (1, 2));
    });
}

/// The waker is replaced while the timer fires. Either the newest waker is woken, or the owner
/// learns that the timer has fired.
#[test]
fn the_newest_waker_is_woken() {
    model(3, || {
        let (queue, now, old, waker) = setting();
        let mut own = timer(&queue, now, &waker);
        let firing = thread::spawn({
            let queue = queue.clone();
            move || queue.fire(now)
        });
        let new = std::sync::Arc::new(Counter::default());
        let armed = own.as_mut().set_waker(&new.clone().into());
        assert_eq!(firing.join().unwrap(), 1);
        assert_eq!((old.get(), new.get()), (usize::from(!armed), usize::from(armed)));
    });
}

/// A queue is closed while timers are armed and leave. No timer stays in it, and the waiters are
/// woken.
#[test]
fn closing_against_arming() {
    model(3, || {
        let (queue, now, counter, waker) = setting();
        let leaving = timer(&queue, now, &waker);
        let closing = thread::spawn({
            let queue = queue.clone();
            move || queue.close()
        });
        let mut own = Box::pin(Timer::new(queue.clone()));
        own.as_mut().arm(now, waker);
        drop(leaving);
        closing.join().unwrap();
        assert!(queue.is_empty() && !own.is_armed() && !own.has_fired());
        assert!(counter.get() <= 2);
    });
}

/// A thread that sees that the timer has fired also sees what was done before.
#[test]
fn firing_publishes() {
    model(3, || {
        let (queue, now, _, waker) = setting();
        let own = timer(&queue, now, &waker);
        let data = Arc::new(AtomicUsize::new(0));
        let firing = thread::spawn({
            let (queue, data) = (queue.clone(), data.clone());
            move || {
                data.store(1, Ordering::Relaxed);
                queue.fire(now);
            }
        });
        if own.has_fired() {
            assert_eq!(data.load(Ordering::Relaxed), 1);
        }
        firing.join().unwrap();
    });
}
