//! The timer queue: times in order, owners that leave, and wakers that do everything a waker may
//! do.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_sync::timer::{Timer, TimerQueue};
use sateen_testkit::{Counter, sized, waker_fn};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

fn waker() -> Waker {
    Waker::noop().clone()
}

fn micros(n: u64) -> Duration {
    Duration::from_micros(n)
}

#[test]
fn earliest_follows_arming_and_disarming() {
    let (queue, now) = (TimerQueue::default(), Instant::now());
    let mut timers = [(); 3].map(|()| Box::pin(Timer::new(&queue)));
    assert_eq!((queue.earliest(), queue.len(), queue.is_empty()), (None, 0, true));
    let [a, b, c] = &mut timers;
    assert!(a.as_mut().arm(now + micros(20), waker()));
    assert!(!b.as_mut().arm(now + micros(20), waker()), "as early is not earlier");
    assert!(c.as_mut().arm(now + micros(10), waker()));
    assert_eq!((queue.earliest(), queue.len()), (Some(now + micros(10)), 3));
    c.as_mut().disarm();
    assert!(!c.is_armed() && !c.has_fired());
    assert_eq!(queue.earliest(), Some(now + micros(20)));
    // The timer is armed for another time, earlier and later.
    assert!(b.as_mut().arm(now + micros(5), waker()));
    assert!(!b.as_mut().arm(now + micros(30), waker()));
    assert_eq!(queue.len(), 2);
    assert_eq!(queue.fire(now), 0);
    assert_eq!(queue.fire(now + micros(29)), 1);
    assert!(a.has_fired() && !a.is_armed() && b.is_armed());
    a.as_mut().disarm();
    assert!(a.has_fired(), "disarming too late changes nothing");
    assert!(a.as_mut().arm(now, waker()), "and it can be used again");
    assert!(!a.has_fired());
    drop(timers);
    assert!(queue.is_empty());
    assert_eq!(format!("{queue:?}"), "TimerQueue { earliest: None, .. }");
}

/// Times beyond the clock's range: one is due at once, and one never.
#[test]
fn extreme_times() {
    let queue = TimerQueue::new();
    let now = Instant::now();
    let past = now.checked_sub(Duration::from_secs(1_000)).unwrap_or(now);
    let far = now.checked_add(Duration::from_secs(1 << 40)).expect("a clock of 64 bits");
    let (mut early, mut late) = (pin!(Timer::new(&queue)), pin!(Timer::new(&queue)));
    assert!(late.as_mut().arm(far, waker()));
    assert!(queue.earliest().is_none_or(|at| at > now + Duration::from_secs(1 << 33)));
    assert!(!queue.is_empty());
    assert!(early.as_mut().arm(past, waker()));
    assert_eq!(queue.fire(now), 1);
    assert!(early.has_fired() && late.is_armed());
}

/// Random operations give the same answers as a sorted map.
#[test]
fn the_same_as_a_sorted_map() {
    for seed in 1..=sized(200) as u64 {
        let (mut rng, queue, base) = (XorShift::new(seed), TimerQueue::new(), Instant::now());
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut timers: Vec<_> = (0..60).map(|_| Box::pin(Timer::new(&queue))).collect();
        let mut twin = BTreeMap::new();
        for step in 0..if cfg!(miri) { 100 } else { 400 } {
            let who = rng.below(timers.len());
            let first = twin.keys().next().map(|&(at, _)| at);
            match rng.below(8) {
                0..4 => {
                    twin.retain(|_, &mut other| other != who);
                    let first = twin.keys().next().map(|&(at, _)| at);
                    let (at, order) = (rng.below(1_000) as u64, order.clone());
                    let waker = waker_fn(move || order.lock().unwrap().push((at, who)));
                    let earliest = timers[who].as_mut().arm(base + micros(at), waker);
                    assert_eq!(earliest, first.is_none_or(|first| at < first));
                    twin.insert((at, step), who);
                }
                4..7 => {
                    timers[who].as_mut().disarm();
                    twin.retain(|_, &mut other| other != who);
                }
                _ => {
                    let now = first.unwrap_or(0) + rng.below(100) as u64;
                    let later = twin.split_off(&(now + 1, 0));
                    let due = std::mem::replace(&mut twin, later);
                    assert_eq!(queue.fire(base + micros(now)), due.len());
                    let mut fired: Vec<_> = std::mem::take(&mut *order.lock().unwrap());
                    assert!(fired.is_sorted_by_key(|&(at, _)| at));
                    let mut due: Vec<_> = due.into_iter().map(|((at, _), who)| (at, who)).collect();
                    fired.sort_unstable();
                    due.sort_unstable();
                    assert_eq!(fired, due);
                }
            }
            assert_eq!(queue.len(), twin.len());
            let first = twin.keys().next().map(|&(at, _)| base + micros(at));
            assert_eq!(queue.earliest(), first);
        }
    }
}

#[test]
fn a_hundred_thousand() {
    const MANY: usize = sized(100_000);
    let (queue, base, mut rng) = (TimerQueue::new(), Instant::now(), XorShift::new(1));
    let (counter, waker) = Counter::new();
    let mut timers: Vec<_> = (0..MANY).map(|_| Box::pin(Timer::new(&queue))).collect();
    for timer in &mut timers {
        timer.as_mut().arm(base + micros(rng.below(1_000_000) as u64), waker.clone());
    }
    assert_eq!(queue.len(), MANY);
    for timer in timers.iter_mut().step_by(2) {
        timer.as_mut().disarm();
    }
    for ms in 0..=1_000 {
        queue.fire(base + Duration::from_millis(ms));
    }
    assert_eq!(counter.get(), MANY / 2);
    assert!(queue.is_empty());
    assert!(timers.iter().enumerate().all(|(i, timer)| timer.has_fired() == (i % 2 == 1)));
}

#[test]
fn everybody_is_woken_though_wakers_panic() {
    let (queue, now) = (TimerQueue::new(), Instant::now());
    let woken = Arc::new(AtomicUsize::new(0));
    let mut timers: Vec<_> = (0..50).map(|_| Box::pin(Timer::new(&queue))).collect();
    for (i, timer) in timers.iter_mut().enumerate() {
        let woken = woken.clone();
        let waker = waker_fn(move || {
            woken.fetch_add(1, SeqCst);
            assert!(i % 3 != 1, "waker {i} panics");
        });
        timer.as_mut().arm(now + micros(i as u64), waker);
    }
    let panic = catch_unwind(AssertUnwindSafe(|| queue.fire(now + micros(50)))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("waker 1 panics"));
    assert_eq!(woken.load(SeqCst), 50);
    assert!(timers.iter().all(|timer| timer.has_fired()));
    assert_eq!(queue.fire(now + micros(50)), 0);
}

type Slot = Arc<Mutex<Option<Pin<Box<Timer<Arc<TimerQueue>>>>>>>;

/// A waker arms its timer again for a time that has passed. Firing ends all the same.
#[test]
fn a_waker_that_arms_again() {
    let (queue, now) = (Arc::new(TimerQueue::new()), Instant::now());
    let slot: Slot = Arc::new(Mutex::new(Some(Box::pin(Timer::new(queue.clone())))));
    let waker = waker_fn({
        let slot = slot.clone();
        move || {
            slot.lock().unwrap().as_mut().unwrap().as_mut().arm(now, waker());
        }
    });
    slot.lock().unwrap().as_mut().unwrap().as_mut().arm(now, waker);
    assert_eq!(queue.fire(now), 1);
    assert_eq!(queue.earliest(), Some(now));
    assert_eq!(queue.fire(now), 1);
    assert!(queue.is_empty());
}

/// A waker drops its own timer and those that are due after it. It also drops the last timer of a
/// queue.
#[test]
fn a_waker_that_drops_the_timers() {
    let (queue, now) = (Arc::new(TimerQueue::new()), Instant::now());
    let slots: Vec<Slot> = (0..40).map(|_| Slot::default()).collect();
    for slot in &slots {
        let mut timer = Box::pin(Timer::new(queue.clone()));
        let all = slots.clone();
        let waker = waker_fn(move || all.iter().for_each(|slot| drop(slot.lock().unwrap().take())));
        timer.as_mut().arm(now, waker);
        *slot.lock().unwrap() = Some(timer);
    }
    assert!(queue.fire(now) <= 16, "a batch at most was due when they were dropped");
    assert!(queue.is_empty());
    assert_eq!(Arc::strong_count(&queue), 1);
    slots.iter().for_each(|slot| assert!(slot.lock().unwrap().is_none()));
}

/// Dropping a waker may run any code, here code that uses the same queue. So no lock may be held
/// meanwhile.
#[test]
fn a_waker_whose_drop_re_enters() {
    struct UsesQueue(&'static TimerQueue, Arc<AtomicUsize>);
    impl Drop for UsesQueue {
        fn drop(&mut self) {
            self.1.fetch_add(1, SeqCst);
            self.0.fire(Instant::now());
            self.0.len();
        }
    }
    let queue: &'static TimerQueue = Box::leak(Box::default());
    let dropped = Arc::new(AtomicUsize::new(0));
    let make = || {
        let guard = UsesQueue(queue, dropped.clone());
        waker_fn(move || {
            let _kept_by_the_waker = &guard;
        })
    };
    let far = Instant::now() + Duration::from_secs(1_000);
    let mut timer = pin!(Timer::new(queue));
    timer.as_mut().arm(far, make());
    timer.as_mut().disarm();
    assert_eq!(dropped.load(SeqCst), 1);
    timer.as_mut().arm(far, make());
    timer.as_mut().arm(far, make());
    assert_eq!(dropped.load(SeqCst), 2);
    assert!(timer.as_mut().set_waker(Waker::noop()));
    assert_eq!(dropped.load(SeqCst), 3);
    timer.as_mut().disarm();
    assert!(!timer.as_mut().set_waker(Waker::noop()));
    queue.close();
    timer.as_mut().arm(far, make());
    assert_eq!(dropped.load(SeqCst), 4);
    assert!(!timer.is_armed());
}

#[test]
fn the_last_waker_is_the_one_that_is_woken() {
    let (queue, now) = (TimerQueue::new(), Instant::now());
    let ((old, old_waker), (new, new_waker)) = (Counter::new(), Counter::new());
    let mut timer = pin!(Timer::new(&queue));
    timer.as_mut().arm(now, old_waker.clone());
    assert!(timer.as_mut().set_waker(&old_waker));
    assert_eq!(Arc::strong_count(&old), 3, "the same waker is kept once");
    assert!(timer.as_mut().set_waker(&new_waker));
    assert_eq!(Arc::strong_count(&old), 2);
    queue.fire(now);
    assert_eq!((old.get(), new.get()), (0, 1));
    assert_eq!(Arc::strong_count(&new), 2, "no waker is kept afterwards");
}

/// A closed queue wakes all waiters and fires no timer.
#[test]
fn closing() {
    let queue = TimerQueue::new();
    let (counter, waker) = Counter::new();
    let far = Instant::now() + Duration::from_secs(1_000);
    let mut timers: Vec<_> = (0..40).map(|_| Box::pin(Timer::new(&queue))).collect();
    timers.iter_mut().for_each(|timer| {
        timer.as_mut().arm(far, waker.clone());
    });
    queue.close();
    assert_eq!(counter.get(), 40);
    assert!(queue.is_empty());
    for timer in &mut timers {
        assert!(!timer.is_armed() && !timer.has_fired());
        assert!(!timer.as_mut().arm(far, waker.clone()));
        assert!(!timer.is_armed());
    }
}

/// A timer that is never dropped costs its memory and harms no other timer.
#[test]
fn a_forgotten_timer() {
    let now = Instant::now();
    let queue = Arc::new(TimerQueue::new());
    let (counter, waker) = Counter::new();
    let mut timer = Box::pin(Timer::new(queue.clone()));
    timer.as_mut().arm(now, waker);
    std::mem::forget(timer);
    assert_eq!(queue.fire(now), 1);
    assert_eq!(counter.get(), 1);
}

/// Owners arm, disarm and drop while two other threads fire. Every timer fires once or not at all,
/// and the counts match.
#[test]
fn stress_firing_against_leaving() {
    const ROUNDS: u64 = sized(3_000) as u64;
    let queue = TimerQueue::new();
    let (fired, running) = (AtomicUsize::new(0), AtomicUsize::new(4));
    let (woken, waker) = Counter::new();
    let seen = AtomicUsize::new(0);
    thread::scope(|s| {
        for seed in 1..=4 {
            let (queue, running, seen, waker) = (&queue, &running, &seen, &waker);
            s.spawn(move || {
                let mut rng = XorShift::new(seed);
                let mut timers: Vec<_> = (0..20).map(|_| Box::pin(Timer::new(queue))).collect();
                for _ in 0..ROUNDS {
                    let which = rng.below(20);
                    let count = |timer: &Timer<_>| {
                        if timer.has_fired() {
                            seen.fetch_add(1, SeqCst);
                        }
                    };
                    let timer = &mut timers[which];
                    timer.as_mut().disarm();
                    count(timer);
                    let at = Instant::now() + micros(rng.below(100) as u64);
                    if rng.below(4) == 0 {
                        *timer = Box::pin(Timer::new(queue));
                    }
                    timer.as_mut().arm(at, waker.clone());
                }
                for mut timer in timers {
                    timer.as_mut().disarm();
                    if timer.has_fired() {
                        seen.fetch_add(1, SeqCst);
                    }
                }
                running.fetch_sub(1, SeqCst);
            });
        }
        for _ in 0..2 {
            s.spawn(|| {
                while running.load(SeqCst) > 0 {
                    fired.fetch_add(queue.fire(Instant::now()), SeqCst);
                    thread::yield_now();
                }
            });
        }
    });
    assert!(queue.is_empty());
    assert_eq!(fired.load(SeqCst), seen.load(SeqCst));
    assert_eq!(woken.get(), fired.load(SeqCst));
}
