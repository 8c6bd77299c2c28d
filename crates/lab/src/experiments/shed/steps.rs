//! The tests of the Bikeshed article, each with one improvement more than the one before.

use super::load::{Crowd, Load, Single, Size};
use crate::adapter::OURS;
use crate::error::Error;
use crate::experiment::{Figure, Group, Plan, Session, Trend};
use crate::host::plural;
use sateen_shed::{Packed, Padded, Pausing};
use std::time::Duration;

/// With as much time for a configuration, runs have as many tasks as in the original.
const FULL_BUDGET: Duration = Duration::from_secs(10);
/// Channels of the tests that have more than one.
const CHANNELS: u64 = 4;
/// Tasks of a batch, in the tests with batches.
const BATCH: usize = 16;
/// The same for consumers that take batches.
const TAKEN: u32 = BATCH as u32;

/// Consumers that take batches too, which the original's cannot.
pub(super) const BATCHES: &str = "sateen-batch";

/// One test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    /// One channel, list heads side by side, no pause after a failed exchange, tasks one by one.
    A,
    /// And four channels.
    B,
    /// And a cache line for each list head.
    C,
    /// And a pause.
    D,
    /// And batches of 16 for the producers.
    E,
}

impl Test {
    const ALL: [Self; 5] = [Self::A, Self::B, Self::C, Self::D, Self::E];

    fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::E => "E",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::A => "1 channel, heads packed, no pause, tasks one by one",
            Self::B => "4 channels, heads packed, no pause, tasks one by one",
            Self::C => "4 channels, heads padded, no pause, tasks one by one",
            Self::D => {
                "4 channels, heads padded, a pause after a failed exchange, tasks one by one"
            }
            Self::E => "4 channels, heads padded, a pause after a failed exchange, batches of 16",
        }
    }

    fn add(self, group: &mut Group, size: Size, crowd: Crowd) {
        match self {
            Self::A => add(group, OURS, move || Load::<Packed, 1, 1>::open(size, 1, crowd)),
            Self::B => add(group, OURS, move || Load::<Packed, 1, 1>::open(size, CHANNELS, crowd)),
            Self::C => add(group, OURS, move || Load::<Padded, 1, 1>::open(size, CHANNELS, crowd)),
            Self::D => add(group, OURS, move || Load::<Pausing, 1, 1>::open(size, CHANNELS, crowd)),
            Self::E => {
                add(group, OURS, move || Load::<Pausing, BATCH, 1>::open(size, CHANNELS, crowd));
                let open = move || Load::<Pausing, BATCH, TAKEN>::open(size, CHANNELS, crowd);
                add(group, BATCHES, open);
            }
        }
    }
}

fn add<S: Session + 'static>(
    group: &mut Group,
    implementation: &'static str,
    open: impl Fn() -> Result<S, Error> + 'static,
) {
    group.add(implementation, open);
}

/// All tests, with as many producers and consumers as there are usually, or as asked for.
pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let usual = [(1, 1), (2, 2), (4, 4), (7, 1), (1, 7)];
    let asked = plan.workers.iter().map(|&n| (n as u64, n as u64));
    let pairs: Vec<_> = if plan.workers.is_empty() { usual.to_vec() } else { asked.collect() };
    let crowds = pairs.into_iter().map(|(producers, consumers)| Crowd { producers, consumers });
    let crowds: Vec<Crowd> = crowds.collect();
    let of = |test| crowds.iter().map(move |&crowd| group(plan, test, crowd));
    Test::ALL.into_iter().flat_map(of).collect()
}

fn group(plan: &Plan, test: Test, crowd: Crowd) -> Group {
    let Crowd { producers, consumers } = crowd;
    let config = format!("p{producers}c{consumers}");
    let (p, c) = (plural(producers as usize), plural(consumers as usize));
    let figure = Figure {
        case: test.name().to_owned(),
        name: format!(
            "time per task of test {}/{producers} producer{p}, {consumers} consumer{c}",
            test.name()
        ),
        unit: "ns",
        trend: Trend::Lower,
        description: format!(
            "{}: from releasing the producers until all tasks are counted, by tasks",
            test.words()
        ),
        config,
    };
    let mut group = Group::new(crowd.threads(), vec![figure]);
    // Each turn takes its shed's memory anew and warms up.
    group.max_runs = Some(5);
    group.in_tour = (producers, consumers) == (4, 4);
    let size = match *plan {
        Plan { smoke: true, .. } => Size::SMOKE,
        Plan { short: true, .. } => Size::SHORT,
        Plan { budget, .. } if budget >= FULL_BUDGET => Size::FULL,
        _ => Size::LEAST,
    };
    if plan.short {
        (group.min_runs, group.max_runs) = (1, Some(3));
    }
    test.add(&mut group, size, crowd);
    group
}

/// One thread for everything.
pub(super) fn single(plan: &Plan) -> Group {
    let figure = Figure {
        case: "single".to_owned(),
        config: "t1".to_owned(),
        name: "time per task of a thread alone/1 thread".to_owned(),
        unit: "ns",
        trend: Trend::Lower,
        description: "a thread creates a task, makes it ready and executes it: time by tasks"
            .to_owned(),
    };
    let mut group = Group::new(1, vec![figure]);
    let tasks = plan.size(1_000_000, 1000);
    group.add(OURS, move || Single::<Pausing>::open(1024, tasks));
    group
}
