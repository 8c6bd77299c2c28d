//! Tests A to E: how many tasks without dependencies go through, from threads that create them to threads that
//! execute them.

use crate::adapter::{SHED_TESTS, ShedLoad, ShedTest};
use crate::experiment::{Figure, Group, Plan, Run, Trend};
use crate::host::plural;
use std::time::Duration;

/// Producers and consumers.
const THREADS: [(u32, u32); 5] = [(1, 1), (2, 2), (4, 4), (7, 1), (1, 7)];
/// What the original can have.
const CAPACITY: u32 = (1 << 23) - 1;
/// Tasks of a run: as published, and as few as there may be when time is short.
const TASKS: (u32, u32) = ((1 << 25) - 1, 1 << 23);
/// How long a task is taken to take when a run is made to fit into the budget.
const EXPECTED: Duration = Duration::from_nanos(60);

pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let mut groups = Vec::new();
    for test in SHED_TESTS {
        for (producers, consumers) in THREADS {
            let load = load(plan, producers, consumers);
            let mut group = Group::new(
                (producers + consumers) as usize,
                vec![figure(&test, producers, consumers)],
            );
            // A run takes seconds, and nothing is kept for the next one.
            group.warmups = 0;
            group.in_tour = false;
            if let Some(bikeshed) = &plan.bikeshed {
                let bikeshed = bikeshed.clone();
                group.add("bikeshed", move || {
                    let mut running = bikeshed.start(&test, load)?;
                    Ok(Run(move || Ok(values(running.run()?, load))))
                });
            }
            groups.push(group);
        }
    }
    groups.retain(|group| !group.subjects.is_empty());
    groups
}

/// How much there is to do under `plan`.
fn load(plan: &Plan, producers: u32, consumers: u32) -> ShedLoad {
    let fit = plan.budget.as_nanos() / EXPECTED.as_nanos();
    let fit = u32::try_from(fit).unwrap_or(u32::MAX).clamp(TASKS.1, TASKS.0);
    // There is room for fewer than all, so that producers have to wait in a smoke run too.
    ShedLoad {
        producers,
        consumers,
        capacity: plan.size(CAPACITY, 100),
        tasks: plan.size(fit, 1_000),
    }
}

/// The values of a run that took `elapsed`.
fn values(elapsed: Duration, load: ShedLoad) -> Vec<f64> {
    vec![elapsed.as_nanos() as f64 / f64::from(load.tasks)]
}

fn figure(test: &ShedTest, producers: u32, consumers: u32) -> Figure {
    let ShedTest { name, channels, padded, yields, batch } = *test;
    let threads = |n: u32, what: &str| format!("{n} {what}{}", plural(n as usize));
    let (producers_named, consumers_named) =
        (threads(producers, "producer"), threads(consumers, "consumer"));
    let padded = if padded { ", padded" } else { "" };
    let yields = if yields { ", a pause after a failed exchange" } else { "" };
    Figure {
        case: name.to_owned(),
        config: format!("p{producers}c{consumers}"),
        name: format!("time per task in test {name}/{producers_named}, {consumers_named}"),
        unit: "ns",
        trend: Trend::Lower,
        description: format!(
            "tasks that add 1 to one counter, from {producers_named} to {consumers_named}, {} in batches of \
             {batch}{padded}{yields}: wall time by tasks",
            threads(channels, "channel")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(budget: Duration) -> u32 {
        let plan = Plan { budget, ..Plan::default() };
        load(&plan, 4, 4).tasks
    }

    #[test]
    fn tasks_follow_the_budget() {
        assert_eq!(tasks(Duration::from_millis(1)), 8_388_608);
        assert_eq!(tasks(Duration::from_secs(1)), 16_666_666);
        assert_eq!(tasks(Duration::from_secs(10)), 33_554_431);
        assert_eq!(tasks(Duration::MAX), 33_554_431);
    }
}
