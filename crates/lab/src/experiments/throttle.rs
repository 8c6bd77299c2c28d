//! What a throttle costs while it lets everything through.

use crate::adapter::OURS;
use crate::error::{Error, expect, input};
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend, per_call};
use crate::peers;
use sateen_flow::{
    Clock, Rate, RealClock, SampledClock, SharedThrottle, Throttle, ThrottleError, TscClock,
};
use std::hint::black_box;

/// Ours, where the clock is read (or sampled) for each item instead of for a batch of tokens.
const SINGLY: &str = "sateen-singly";
/// Ours, where a thread takes tokens of the shared throttle into its hand.
const HAND: &str = "sateen-hand";
/// Looks for one reading of the clock.
const EVERY: u32 = 8;

/// The experiment `throttle`.
pub(crate) struct Throttles;

/// What tells the throttle the time, and whom it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Exact,
    Sampled,
    Tsc,
    Shared,
}

impl Case {
    const ALL: [Self; 4] = [Self::Exact, Self::Sampled, Self::Tsc, Self::Shared];

    fn figure(self) -> Figure {
        let (case, what) = match self {
            Self::Exact => ("exact", "the system's clock"),
            Self::Sampled => ("sampled8", "the system's clock, read at every 8th look"),
            Self::Tsc => ("tsc", "the processor's counter"),
            Self::Shared => ("shared", "the system's clock, a throttle that threads could share"),
        };
        Figure {
            case: case.to_owned(),
            config: "t1".to_owned(),
            name: format!("time per check of {case} throttle/1 thread"),
            unit: "ns",
            trend: Trend::Lower,
            description: format!("checks at a limit that is not reached, {what}: time by checks"),
        }
    }
}

impl Experiment for Throttles {
    fn name(&self) -> &'static str {
        "throttle"
    }

    fn about(&self) -> &'static str {
        "A limit on items a second: what it costs each item while the limit is not reached, by the clock that it reads."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let checks = plan.size(5_000_000, 1_000);
        let group = |case: Case| {
            let mut group = Group::new(1, vec![case.figure()]);
            match case {
                Case::Exact => add(&mut group, checks, || Ok(RealClock::new())),
                Case::Sampled => {
                    add(&mut group, checks, || SampledClock::new(EVERY).map_err(wrong))
                }
                Case::Tsc => add(&mut group, checks, || {
                    let none = "TscClock: this processor has no counter of constant speed";
                    TscClock::new().ok_or_else(|| Error::Absent(none.to_owned()))
                }),
                Case::Shared => add_shared(&mut group, checks),
            }
            if plan.peers {
                peers::add_throttles(&mut group, case, checks);
            }
            group
        };
        Case::ALL.map(group).into()
    }
}

fn wrong(error: ThrottleError) -> Error {
    input(error.to_string())
}

/// Faster than anybody can ask.
fn never_reached() -> Result<Rate, Error> {
    Rate::per_second(Rate::MOST).map_err(wrong)
}

/// Nanoseconds for one of `checks` calls of `check`, none of which may refuse.
#[inline(always)]
pub(crate) fn timed(checks: u32, mut check: impl FnMut() -> bool) -> Result<Vec<f64>, Error> {
    let mut refused = 0u32;
    let values = per_call(checks, || refused += u32::from(!check()));
    expect("the number of refusals", refused, 0)?;
    values
}

/// Ours for one owner, with tokens by the batch and singly.
fn add<C: Clock + 'static>(
    group: &mut Group,
    checks: u32,
    clock: impl Fn() -> Result<C, Error> + Copy + 'static,
) {
    group.add(OURS, move || {
        let mut throttle = Throttle::new(never_reached()?, clock()?);
        Ok(Run(move || timed(checks, || black_box(&mut throttle).try_take(1))))
    });
    group.add(SINGLY, move || {
        let throttle = Throttle::new(never_reached()?, clock()?);
        let mut throttle = throttle.batch(1).map_err(wrong)?;
        Ok(Run(move || timed(checks, || black_box(&mut throttle).try_take(1))))
    });
}

fn add_shared(group: &mut Group, checks: u32) {
    group.add(OURS, move || {
        let throttle = SharedThrottle::new(never_reached()?, RealClock::new());
        Ok(Run(move || timed(checks, || black_box(&throttle).try_take(1))))
    });
    group.add(HAND, move || {
        let throttle = SharedThrottle::new(never_reached()?, RealClock::new());
        Ok(Run(move || {
            let mut hand = throttle.hand();
            timed(checks, || black_box(&mut hand).try_take())
        }))
    });
}
