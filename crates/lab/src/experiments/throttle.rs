//! What a throttle costs while it lets everything through.

use crate::adapter::{OURS, ThrottleClock};
use crate::error::{Error, input};
use crate::exhibits::{SampledClock, TscClock};
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend, per_check};
use crate::peers;
use sateen_flow::{Clock, Rate, RealClock, SharedThrottle, Throttle, ThrottleError};
use std::hint::black_box;

/// Our throttle, which reads (or samples) the clock for each item instead of for a batch of tokens.
const SINGLY: &str = "sateen-singly";
/// Our throttle, from which a thread takes tokens of its own in advance.
const HAND: &str = "sateen-hand";
/// How many looks share one reading of the clock.
const EVERY: u32 = 8;

/// The experiment `throttle`.
pub(crate) struct Throttles;

fn figure(clock: ThrottleClock) -> Figure {
    let (case, what) = match clock {
        ThrottleClock::Exact => ("exact", "the system's clock"),
        ThrottleClock::Sampled => ("sampled8", "the system's clock, read at every 8th look"),
        ThrottleClock::Tsc => ("tsc", "the processor's counter"),
        ThrottleClock::Shared => {
            ("shared", "the system's clock, a throttle that threads could share")
        }
    };
    Figure {
        case: case.to_owned(),
        config: "t1".to_owned(),
        name: format!("time per check of {case} throttle/1 thread"),
        unit: "ns",
        trend: Trend::Lower,
        description: format!("checks at a limit that is not reached, {what}: time per check"),
    }
}

impl Experiment for Throttles {
    fn name(&self) -> &'static str {
        "throttle"
    }

    fn about(&self) -> &'static str {
        "A limit on items a second: the cost for each item while the limit is not reached, with \
         each kind of clock."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let checks = plan.size(5_000_000, 1_000);
        let group = |clock: ThrottleClock| {
            let mut group = Group::new(1, vec![figure(clock)]);
            match clock {
                ThrottleClock::Exact => add(&mut group, checks, || Ok(RealClock::new())),
                ThrottleClock::Sampled => add(&mut group, checks, || Ok(SampledClock::new(EVERY))),
                ThrottleClock::Tsc => add(&mut group, checks, || {
                    let none = "TscClock: this processor has no counter of constant speed";
                    TscClock::new().ok_or_else(|| Error::Absent(none.to_owned()))
                }),
                ThrottleClock::Shared => add_shared(&mut group, checks),
            }
            if plan.peers.all() {
                peers::add_throttles(&mut group, clock, checks);
            }
            group
        };
        use ThrottleClock::{Exact, Sampled, Shared, Tsc};
        [Exact, Sampled, Tsc, Shared].map(group).into()
    }
}

fn wrong(error: ThrottleError) -> Error {
    input(error.to_string())
}

/// Returns a rate that no thread can reach.
fn never_reached() -> Result<Rate, Error> {
    Rate::per_second(Rate::MOST).map_err(wrong)
}

/// Adds ours for one owner, with tokens by the batch and singly.
fn add<C: Clock + 'static>(
    group: &mut Group,
    checks: u32,
    clock: impl Fn() -> Result<C, Error> + Copy + 'static,
) {
    group.add(OURS, move || {
        let mut throttle = Throttle::new(never_reached()?, clock()?);
        Ok(Run(move || per_check(checks, || black_box(&mut throttle).try_take(1))))
    });
    group.add(SINGLY, move || {
        let throttle = Throttle::new(never_reached()?, clock()?);
        let mut throttle = throttle.batch(1).map_err(wrong)?;
        Ok(Run(move || per_check(checks, || black_box(&mut throttle).try_take(1))))
    });
}

fn add_shared(group: &mut Group, checks: u32) {
    group.add(OURS, move || {
        let throttle = SharedThrottle::new(never_reached()?, RealClock::new());
        Ok(Run(move || per_check(checks, || black_box(&throttle).try_take(1))))
    });
    group.add(HAND, move || {
        let throttle = SharedThrottle::new(never_reached()?, RealClock::new());
        Ok(Run(move || {
            let mut hand = throttle.hand();
            per_check(checks, || black_box(&mut hand).try_take())
        }))
    });
}
