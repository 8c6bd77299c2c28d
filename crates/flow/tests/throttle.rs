//! Throttles, in virtual time: nothing here sleeps.
#![cfg(not(loom))]

use sateen_flow::{Clock, ManualClock, Rate, RealClock, SharedThrottle, Throttle, ThrottleError};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

/// A manual clock that counts its delays, each of which ends late: a system that wakes late.
#[derive(Clone, Default)]
struct Late {
    time: ManualClock,
    late: Duration,
    delays: Arc<AtomicU64>,
}

impl Late {
    fn delays(&self) -> u64 {
        self.delays.load(Ordering::Relaxed)
    }
}

impl Clock for Late {
    fn elapsed(&self) -> Duration {
        self.time.elapsed()
    }
    fn delay(&self, interval: Duration) {
        self.delays.fetch_add(1, Ordering::Relaxed);
        self.time.delay(interval + self.late);
    }
    fn takes_time(&self) -> bool {
        false
    }
}

fn rate(items: f64) -> Rate {
    Rate::per_second(items).unwrap()
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

#[test]
fn senseless_rates_are_refused_by_name() {
    for (items, said) in [
        (0.0, "0.0 items a second is not above 0"),
        (-1.0, "-1.0 items"),
        (f64::NAN, "NaN items"),
        (1e300, "a rate of 1e300 items a second: at most 10000000000"),
        (f64::INFINITY, "inf items a second: at most"),
        (1e-300, "at least 0.000000001"),
    ] {
        let error = Rate::per_second(items).unwrap_err().to_string();
        assert!(error.contains(said) && error.lines().count() == 1, "{items}: {error}");
    }
    let throttle = || Throttle::new(rate(1.0), ManualClock::new());
    assert_eq!(throttle().burst(0).unwrap_err(), ThrottleError::ZeroBurst);
    assert_eq!(throttle().batch(0).unwrap_err(), ThrottleError::ZeroBatch);
    for limit in [Rate::LEAST, Rate::MOST] {
        assert_eq!(rate(limit).get(), Some(limit));
    }
}

#[test]
fn the_rate_is_exact_at_any_rate() {
    for items in [Rate::LEAST, 0.3, 1.0, 7.0, 1e3, 1e5, 1e6, 1e7, 5e7, 1e9] {
        // Items pass one at a time, or those of 200 µs pass at once.
        for (batch, late) in [(1, 2e-9), (u64::MAX, 200e-6)] {
            let clock = ManualClock::new();
            let mut throttle = Throttle::new(rate(items), clock.clone()).batch(batch).unwrap();
            // No run is longer than the clock's range.
            let n = (items * 1e9).floor().min(30_000.0);
            for _ in 0..=n as u64 {
                throttle.wait();
            }
            let (took, wanted) = (clock.elapsed().as_secs_f64(), n / items);
            // This is exact to the nanosecond, and the last waits may be rounded up.
            assert!(took >= wanted - 1e-9, "{items}: {took} instead of {wanted}");
            assert!(took <= wanted * (1.0 + 1e-9) + late, "{items}: {took} instead of {wanted}");
        }
    }
}

/// If items may pass in batches, each wait is long enough for a sleep. Items that are due by then
/// pass at once.
#[test]
fn a_high_rate_waits_seldom() {
    for (items, batch, waits) in [(1e6, u64::MAX, 500), (1e6, 50, 2000), (1e6, 1, 100_000)] {
        let clock = Late::default();
        let mut throttle = Throttle::new(rate(items), clock.clone()).batch(batch).unwrap();
        throttle.wait();
        assert_eq!(clock.delays(), 0, "the first passes at once");
        (0..100_000).for_each(|_| throttle.wait());
        assert_eq!((clock.delays(), clock.elapsed()), (waits, seconds(0.1)), "{items} by {batch}");
        clock.time.advance(Duration::from_micros(3));
        throttle.wait();
        assert_eq!(clock.delays(), waits, "it was due");
    }
    let clock = Late::default();
    let throttle = SharedThrottle::new(rate(1e6), clock.clone());
    let mut hand = throttle.hand();
    (0..=100_000).for_each(|_| hand.wait());
    assert_eq!((clock.delays(), clock.elapsed()), (500, seconds(0.1)));
}

#[test]
fn lateness_does_not_add_up() {
    for late in [1e-6, 1e-4, 0.01, 0.08] {
        let clock = Late { late: seconds(late), ..Late::default() };
        let mut throttle = Throttle::new(rate(1000.0), clock.clone());
        for _ in 0..=10_000 {
            throttle.wait();
        }
        let took = clock.elapsed().as_secs_f64();
        assert!((10.0..10.0 + late + 0.002).contains(&took), "{late}: {took}");
    }
}

#[test]
fn no_span_of_time_lets_more_through() {
    for (burst, batch) in [(1, 1), (5, 1), (64, 8), (1000, 1000)] {
        let clock = ManualClock::new();
        let mut throttle = Throttle::new(rate(100.0), clock.clone());
        throttle = throttle.burst(burst).unwrap().batch(batch).unwrap();
        let mut passed = Vec::new();
        let mut random = sateen_base::XorShift::new(burst);
        for _ in 0..3000 {
            // Draws a long or short pause, an attempt, or a wait.
            match random.next_u64() % 8 {
                0 => clock.advance(Duration::from_millis(random.next_u64() % 3000)),
                1..4 => {
                    if throttle.try_take(1) {
                        passed.push(clock.elapsed());
                    }
                }
                _ => {
                    throttle.wait();
                    passed.push(clock.elapsed());
                }
            }
        }
        for start in 0..passed.len() {
            for end in (start..passed.len().min(start + 1500)).step_by(13) {
                let span = (passed[end] - passed[start]).as_secs_f64();
                let most = burst as f64 + (span * 100.0).ceil();
                assert!((end - start + 1) as f64 <= most, "{burst}: {start} to {end} in {span}");
            }
        }
    }
}

#[test]
fn who_comes_late_makes_up_for_a_burst_and_no_more() {
    let clock = ManualClock::new();
    let mut throttle = Throttle::new(rate(10.0), clock.clone()).burst(5).unwrap();
    clock.advance(Duration::from_secs(60));
    let at_once = (0..100).take_while(|_| throttle.try_take(1)).count();
    assert_eq!(at_once, 5);
    assert!(!throttle.try_take(6));
    clock.advance(Duration::from_secs(60));
    assert!(!throttle.try_take(6), "never more than a burst");
    assert!(throttle.try_take(5));
    assert!(!throttle.try_take(1));
}

#[test]
fn a_new_rate_holds_from_now_on() {
    let clock = ManualClock::new();
    let mut throttle = Throttle::new(rate(10.0), clock.clone());
    (0..=10).for_each(|_| throttle.wait());
    assert_eq!(clock.elapsed(), seconds(1.0));
    throttle.set_rate(rate(1000.0));
    assert_eq!(throttle.rate(), rate(1000.0));
    (0..1000).for_each(|_| throttle.wait());
    assert_eq!(clock.elapsed(), seconds(2.0));
    throttle.set_rate(Rate::UNLIMITED);
    (0..1000).for_each(|_| throttle.wait());
    assert_eq!(clock.elapsed(), seconds(2.0));
    throttle.set_rate(rate(1.0));
    throttle.wait();
    assert_eq!(clock.elapsed(), seconds(3.0));
}

#[test]
fn without_a_limit_nobody_waits() {
    let clock = Late::default();
    let mut throttle = Throttle::new(Rate::UNLIMITED, clock.clone());
    (0..1_000_000).for_each(|_| throttle.wait());
    assert!(throttle.try_take(u64::from(u32::MAX)));
    let shared = SharedThrottle::new(Rate::UNLIMITED, clock.clone());
    (0..1000).for_each(|_| shared.wait());
    assert_eq!(clock.delays(), 0);
}

#[test]
fn many_share_one_limit() {
    let clock = ManualClock::new();
    let throttle = SharedThrottle::new(rate(1e4), clock.clone());
    std::thread::scope(|s| {
        for i in 0..4 {
            let throttle = &throttle;
            s.spawn(move || {
                let mut hand = throttle.hand();
                for _ in 0..5000 {
                    if i % 2 == 0 { throttle.wait() } else { hand.wait() }
                }
            });
        }
    });
    // Time goes on when any caller waits, so others may find it later than they wanted, but never
    // earlier.
    assert!(clock.elapsed() >= seconds(19_999.0 / 1e4), "{:?}", clock.elapsed());
}

#[test]
fn who_stops_waiting_gives_the_place_back() {
    let time = ManualClock::new();
    /// Asks callers to wait elsewhere, as real clocks do.
    #[derive(Debug)]
    struct Slow(ManualClock);
    impl Clock for Slow {
        fn elapsed(&self) -> Duration {
            self.0.elapsed()
        }
        fn delay(&self, interval: Duration) {
            self.0.delay(interval);
        }
    }
    let throttle = SharedThrottle::new(rate(1.0), Slow(time.clone())).burst(1).unwrap();
    assert!(throttle.try_take(1));
    let mut cx = Context::from_waker(Waker::noop());
    {
        let mut waits = [(); 5].map(|()| Box::pin(throttle.until_ready()));
        assert!(waits.iter_mut().all(|wait| wait.as_mut().poll(&mut cx).is_pending()));
        assert!(!throttle.try_take(1), "five are in line");
    }
    time.advance(Duration::from_secs(1));
    assert!(throttle.try_take(1), "they have left");
    let mut single = Throttle::new(rate(1.0), Slow(time.clone()));
    assert!(single.try_take(1));
    assert!(pin!(single.until_ready()).poll(&mut cx).is_pending());
    time.advance(Duration::from_secs(1));
    assert!(single.try_take(1), "a dropped future has taken nothing");
}

#[test]
fn a_hand_gives_back_what_it_has_left() {
    let clock = ManualClock::new();
    let throttle = SharedThrottle::new(rate(1000.0), clock.clone());
    clock.advance(Duration::from_secs(9));
    let mut hand = throttle.hand();
    assert!(hand.try_take());
    drop(hand);
    assert_eq!((0..1000).take_while(|_| throttle.try_take(1)).count(), 99);
}

/// A throttle keeps its rate on the real clock. Only a lower limit is certain.
#[test]
fn real_clocks_run() {
    let real = RealClock::new();
    let mut throttle = Throttle::new(rate(2000.0), real);
    (0..=20).for_each(|_| throttle.wait());
    assert!(real.elapsed() >= Duration::from_millis(10));
}
