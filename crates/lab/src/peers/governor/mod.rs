//! Adapter for `governor`: its limiter without keys, which threads can always share.

use crate::adapter::ThrottleClock;
use crate::error::Error;
use crate::experiment::{Group, Run, per_check};
use governor::clock::{MonotonicClock, QuantaClock};
use governor::{Quota, RateLimiter};
use std::hint::black_box;
use std::num::NonZeroU32;

/// The highest rate that it can express: one item each nanosecond.
const RATE: NonZeroU32 = NonZeroU32::new(1_000_000_000).expect("not zero");

/// Adds the limiter with `clock`, if it has such a clock.
pub(crate) fn add_throttles(group: &mut Group, clock: ThrottleClock, checks: u32) {
    match clock {
        ThrottleClock::Exact | ThrottleClock::Shared => group.add("governor", move || {
            let limiter = RateLimiter::direct_with_clock(Quota::per_second(RATE), MonotonicClock);
            Ok::<_, Error>(Run(move || per_check(checks, || black_box(&limiter).check().is_ok())))
        }),
        // Its default clock.
        ThrottleClock::Tsc => group.add("governor", move || {
            let quanta = QuantaClock::default();
            let limiter = RateLimiter::direct_with_clock(Quota::per_second(RATE), quanta);
            Ok::<_, Error>(Run(move || per_check(checks, || black_box(&limiter).check().is_ok())))
        }),
        ThrottleClock::Sampled => {}
    }
}
