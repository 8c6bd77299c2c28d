//! Throttles with numbers at the ends of their ranges, and with wrong clocks. Time is virtual:
//! nothing here sleeps.
#![cfg(not(loom))]

use sateen_flow::{Clock, ManualClock, Rate, SharedThrottle, Throttle, WorkerQueue};
use sateen_testkit::in_time;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Waker};
use std::time::Duration;

fn rate(items: f64) -> Rate {
    Rate::per_second(items).unwrap()
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A clock that shows the time it is set to, and advances by each delay.
#[derive(Clone, Debug, Default)]
struct Wrong(Arc<AtomicU64>);

impl Wrong {
    fn set(&self, nanos: u64) {
        self.0.store(nanos, Relaxed);
    }
}

impl Clock for Wrong {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos())
    }
    fn delay(&self, interval: Duration) {
        let nanos = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        self.set(self.nanos().saturating_add(nanos));
    }
    fn nanos(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

// ---- Without a limit ----

#[test]
fn a_burst_limits_nothing_without_a_rate() {
    let clock = ManualClock::new();
    let mut throttle = Throttle::new(Rate::UNLIMITED, clock.clone()).burst(10).unwrap();
    assert!((0..1000).all(|_| throttle.try_take(1)));
    assert!(throttle.try_take(11));
    let shared = SharedThrottle::new(Rate::UNLIMITED, clock).burst(10).unwrap();
    assert!((0..1000).all(|_| shared.try_take(1)));
    assert!(shared.try_take(11));
    let mut hand = shared.hand();
    assert!((0..1000).all(|_| hand.try_take()));
}

#[test]
fn a_limit_that_is_lifted_limits_nothing() {
    let clock = ManualClock::new();
    let mut throttle = Throttle::new(rate(100.0), clock).burst(10).unwrap();
    while throttle.try_take(1) {}
    throttle.set_rate(Rate::UNLIMITED);
    assert!((0..1000).all(|_| throttle.try_take(1)));
}

#[test]
fn workers_without_a_rate_handle_more_than_a_burst() {
    in_time(|| {
        let queue = WorkerQueue::builder().workers(1).receive_burst(10).start(|_, _: &mut u32| ());
        let queue = queue.unwrap();
        (0..100).for_each(|item| queue.send(item).unwrap());
        queue.close();
        assert_eq!(queue.stats().received, 100);
    });
}

// ---- Changes of the rate ----

/// A caller that changes the rate often does not delay an item that is nearly due.
#[test]
fn changes_of_the_rate_starve_nobody() {
    for (burst, step) in [(1, 50), (5, 50), (1, 7), (64, 3)] {
        let clock = ManualClock::new();
        let mut throttle = Throttle::new(rate(10.0), clock.clone()).burst(burst).unwrap();
        let mut passed = 0;
        for change in 0..3000 / step {
            throttle.set_rate(rate(if change % 2 == 0 { 11.0 } else { 10.0 }));
            clock.advance(millis(step));
            passed += u64::from(throttle.try_take(1));
        }
        // The first change of the rate loses the item that was due at the start.
        assert!((28..=33).contains(&passed), "{passed} by bursts of {burst}, every {step} ms");
    }
}

/// At most one item is due when the rate changes.
#[test]
fn a_change_of_the_rate_is_no_burst() {
    let clock = ManualClock::new();
    let mut throttle = Throttle::new(rate(10.0), clock.clone()).burst(100).unwrap();
    clock.advance(Duration::from_secs(60));
    throttle.set_rate(rate(20.0));
    assert_eq!((0..100).take_while(|_| throttle.try_take(1)).count(), 1);
    clock.advance(millis(49));
    assert!(!throttle.try_take(1));
    clock.advance(millis(1));
    assert!(throttle.try_take(1));
}

// ---- Large numbers ----

#[test]
fn the_largest_burst_is_a_burst() {
    for items in [Rate::LEAST, 1.0, Rate::MOST] {
        let clock = ManualClock::new();
        let mut throttle = Throttle::new(rate(items), clock.clone());
        throttle = throttle.burst(u64::MAX).unwrap().batch(u64::MAX).unwrap();
        assert!(throttle.try_take(1));
        assert!(!throttle.try_take(u64::MAX));
        throttle.wait();
        let shared = SharedThrottle::new(rate(items), clock).burst(u64::MAX).unwrap();
        let shared = shared.batch(u64::MAX).unwrap();
        assert!(shared.try_take(1));
        assert!(!shared.try_take(u64::MAX));
        shared.wait();
        shared.hand().wait();
    }
}

#[test]
fn virtual_time_ends_and_does_not_begin_anew() {
    let clock = ManualClock::new();
    clock.delay(Duration::MAX);
    clock.delay(Duration::MAX);
    clock.advance(Duration::from_secs(1));
    clock.advance(Duration::MAX);
    assert_eq!(clock.elapsed(), Duration::from_nanos(u64::MAX));
}

#[test]
fn a_clock_may_say_more_than_there_are_nanoseconds() {
    struct Endless;
    impl Clock for Endless {
        fn elapsed(&self) -> Duration {
            Duration::MAX
        }
        fn delay(&self, _: Duration) {}
    }
    assert_eq!(Endless.nanos(), u64::MAX);
    let mut throttle = Throttle::new(rate(1.0), Endless);
    assert!(throttle.try_take(1) && !throttle.try_take(1));
}

/// Centuries at the highest rate would let more items pass than there are numbers.
#[test]
fn a_jump_of_centuries_is_a_burst() {
    let clock = Wrong::default();
    let mut throttle = Throttle::new(rate(Rate::MOST), clock.clone()).burst(10).unwrap();
    for _ in 0..3 {
        clock.set(u64::MAX - 1_000_000);
        assert!((1..=10).contains(&(0..100).take_while(|_| throttle.try_take(1)).count()));
        clock.set(u64::MAX);
        assert!((1..=10).contains(&(0..100).take_while(|_| throttle.try_take(1)).count()));
        clock.set(0);
        assert!(!throttle.try_take(1));
    }
}

// ---- Clocks that go back ----

/// A throttle whose clock was set back soon goes on at its rate.
#[test]
fn a_clock_that_goes_back_starves_nobody() {
    const HOUR: u64 = 3_600_000_000_000;
    let clock = Wrong::default();
    clock.set(5 * HOUR);
    let mut single = Throttle::new(rate(10.0), clock.clone()).burst(1).unwrap();
    let shared = SharedThrottle::new(rate(10.0), clock.clone()).burst(1).unwrap();
    for back in [0, 1, 2 * HOUR, 3 * HOUR + 7, u64::MAX, 9 * HOUR, 1] {
        let mut at = if back == u64::MAX { 20 * HOUR } else { 5 * HOUR - back.min(5 * HOUR) };
        let (mut ones, mut others) = (0, 0);
        for _ in 0..100 {
            clock.set(at);
            ones += u64::from(single.try_take(1));
            others += u64::from(shared.try_take(1));
            at += 10_000_000;
        }
        assert!((9..=11).contains(&ones), "{ones} in a second, back by {back}");
        assert!((9..=11).contains(&others), "{others} in a second, back by {back}");
    }
}

/// The same for a caller that waits while the clock is set back.
#[test]
fn who_waits_by_a_clock_that_goes_back_passes() {
    let clock = Wrong::default();
    clock.set(1 << 50);
    let mut single = Throttle::new(rate(10.0), clock.clone()).burst(1).unwrap();
    let shared = SharedThrottle::new(rate(10.0), clock.clone()).burst(1).unwrap();
    for _ in 0..10 {
        single.wait();
        shared.wait();
        shared.hand().wait();
        clock.set(1 << 40);
        let before = clock.nanos();
        single.wait();
        shared.wait();
        shared.hand().wait();
        assert!(clock.nanos() - before < 2_000_000_000, "{}", clock.nanos() - before);
        clock.set(1 << 50);
    }
}

/// A clock that wavers by less than it advances neither starves callers nor speeds the throttle up.
#[test]
fn a_clock_that_wavers_keeps_the_rate() {
    let clock = Wrong::default();
    let mut single = Throttle::new(rate(1000.0), clock.clone()).burst(5).unwrap();
    let shared = SharedThrottle::new(rate(1000.0), clock.clone()).burst(5).unwrap();
    let (mut ones, mut others) = (0, 0);
    for i in 0..100_000u64 {
        clock.set(1_000_000 + i * 10_000 - (i % 7) * 9_000);
        ones += u64::from(single.try_take(1));
        others += u64::from(shared.try_take(1));
    }
    assert!((990..=1010).contains(&ones) && (990..=1010).contains(&others), "{ones}, {others}");
}

// ---- Places that are given up ----

type Wait<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Begins to wait, and is not ready.
fn line_up<'a>(throttle: &'a SharedThrottle<Wrong>) -> Wait<'a> {
    let mut wait: Wait<'a> = Box::pin(throttle.until_ready());
    assert!(!pass(&mut wait));
    wait
}

fn pass(wait: &mut Wait<'_>) -> bool {
    wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// Lets real time, by which futures sleep, go on until all futures have read the clock. Virtual
/// time stands still. Returns how many have passed.
fn pass_now(waits: &mut Vec<Wait<'_>>) -> usize {
    let (all, start) = (waits.len(), std::time::Instant::now());
    while start.elapsed() < Duration::from_secs(1) {
        waits.retain_mut(|wait| !pass(wait));
        std::thread::sleep(millis(5));
    }
    all - waits.len()
}

/// However many callers give up, a number on the grid belongs to one caller.
#[test]
fn who_gives_up_gives_nobody_a_second_token() {
    let clock = Wrong::default();
    let throttle = SharedThrottle::new(rate(100.0), clock.clone()).burst(1).unwrap();
    assert!(throttle.try_take(1));
    let lined_up = |len| {
        let mut line: Vec<_> = (0..len).map(|_| line_up(&throttle)).collect();
        // All callers but the last give up.
        line.pop().unwrap()
    };
    let mut last: Vec<_> = (1..=40).rev().map(lined_up).collect();
    clock.set(400_000_000);
    let passed = pass_now(&mut last);
    assert!(passed <= 1, "{passed} at once");
}

/// Callers that use their numbers long after these were due cause no burst.
#[test]
fn who_comes_late_to_a_shared_limit_makes_no_burst() {
    let clock = Wrong::default();
    let throttle = SharedThrottle::new(rate(100.0), clock.clone()).burst(3).unwrap();
    assert!(throttle.try_take(1));
    let mut waits: Vec<_> = (0..40).map(|_| line_up(&throttle)).collect();
    clock.set(9_000_000_000);
    let passed = pass_now(&mut waits);
    assert!(passed <= 3, "{passed} at once");
}

/// Callers that have left delay no other caller.
#[test]
fn a_line_that_everybody_has_left_holds_nobody_up() {
    let clock = Wrong::default();
    let throttle = SharedThrottle::new(rate(1.0), clock.clone()).burst(1).unwrap();
    assert!(throttle.try_take(1));
    let mut line: Vec<_> = (0..1000).map(|_| line_up(&throttle)).collect();
    // The callers leave in any order.
    while !line.is_empty() {
        drop(line.swap_remove(line.len() / 3));
    }
    clock.set(1_000_000_000);
    assert!(throttle.try_take(1));
    assert!(!throttle.try_take(1));
}

/// Hands that come and go give back the items that they did not use.
#[test]
fn what_hands_leave_is_used() {
    let clock = Wrong::default();
    let throttle = SharedThrottle::new(rate(1000.0), clock.clone()).burst(800).unwrap();
    clock.set(10_000_000_000);
    let mut passed = 0;
    // Each hand takes a hundred items and uses one, beside another hand.
    while passed < 2000 {
        let (mut one, mut other) = (throttle.hand(), throttle.hand());
        let (first, second) = (one.try_take(), other.try_take());
        drop(one);
        passed += usize::from(first) + usize::from(second);
        if !second {
            break;
        }
    }
    assert!((700..=800).contains(&passed), "{passed}");
}
