//! Adapter for `governor`: its limiter without keys, which threads share in any case.

use crate::error::Error;
use crate::experiment::{Group, Run};
use crate::experiments::throttle::{Case, timed};
use governor::clock::{MonotonicClock, QuantaClock};
use governor::{Quota, RateLimiter};
use std::hint::black_box;
use std::num::NonZeroU32;

/// As many a second as it can tell apart: one each nanosecond.
const RATE: NonZeroU32 = NonZeroU32::new(1_000_000_000).expect("not zero");

/// Adds the limiter with the clock of `case`, if it has it.
pub(crate) fn add_throttles(group: &mut Group, case: Case, checks: u32) {
    match case {
        Case::Exact | Case::Shared => group.add("governor", move || {
            let limiter = RateLimiter::direct_with_clock(Quota::per_second(RATE), MonotonicClock);
            Ok::<_, Error>(Run(move || timed(checks, || black_box(&limiter).check().is_ok())))
        }),
        // Its default clock.
        Case::Tsc => group.add("governor", move || {
            let clock = QuantaClock::default();
            let limiter = RateLimiter::direct_with_clock(Quota::per_second(RATE), clock);
            Ok::<_, Error>(Run(move || timed(checks, || black_box(&limiter).check().is_ok())))
        }),
        Case::Sampled => {}
    }
}
