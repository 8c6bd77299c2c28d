//! Tests A to E, and our own F and G: how many tasks without dependencies go from threads that
//! create them to threads that execute them.

use super::driven::Workers;
use super::load::{Load, Single};
use crate::adapter::{OURS, SHED_TESTS, ShedLoad, ShedTest};
use crate::experiment::{Figure, Group, Plan, Run, Trend};
use crate::host::plural;
use crate::peers::bikeshed;
use sateen_shed::{Central, Layout, Packed, Padded, Sharded};
use std::rc::Rc;
use std::time::Duration;

/// Producers and consumers.
const THREADS: [(u32, u32); 5] = [(1, 1), (2, 2), (4, 4), (7, 1), (1, 7)];
/// The most tasks that the original can have.
const CAPACITY: u32 = (1 << 23) - 1;
/// Tasks of a run: as published, and the fewest if time is short.
const TASKS: (u32, u32) = ((1 << 25) - 1, 1 << 23);
/// Runs of a configuration. Each has memory of its own, and a run before warms it up.
const RUNS: u32 = 5;
/// Time assumed for a task, to make the runs fit into the budget.
const EXPECTED: Duration = Duration::from_nanos(60);
/// Tasks of a batch, in the tests with batches.
const BATCH: usize = 16;
/// E with ready heads striped over the threads, which also keep free slots. The consumers take
/// batches.
const F: ShedTest = ShedTest { name: "F", ..SHED_TESTS[4] };
/// F with the workers of a runtime instead of consumers that spin. They sleep while nothing is
/// ready.
const G: ShedTest = ShedTest { name: "G", ..F };
/// E with consumers that take batches too, which the original's cannot.
const BATCHES: &str = "sateen-batch";
/// A to E with channels that hand out the oldest task first, which the original's cannot. Threads
/// that make tasks ready and threads that execute them then meet only once in many tasks.
const FIFO: &str = "sateen-fifo";

pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let asked: Vec<_> = plan.workers.iter().map(|&n| (n as u32, n as u32)).collect();
    let threads = if asked.is_empty() { &THREADS[..] } else { &asked };
    let of = |test| threads.iter().map(move |&(p, c)| group(plan, test, load(plan, p, c)));
    SHED_TESTS.into_iter().chain([F, G]).flat_map(of).collect()
}

fn group(plan: &Plan, test: ShedTest, load: ShedLoad) -> Group {
    let ShedLoad { producers, consumers, .. } = load;
    let threads = (producers + consumers) as usize;
    let mut group = Group::new(threads, vec![figure(&test, producers, consumers)]);
    group.max_runs = Some(if plan.short { 3 } else { RUNS });
    group.in_tour = (producers, consumers) == (4, 4);
    add_ours(&mut group, test, load);
    if let Some(header) = &plan.bikeshed
        && SHED_TESTS.contains(&test)
    {
        let header = Rc::clone(header);
        group.add("bikeshed", move || {
            let mut running = bikeshed::start(&header, &test, load)?;
            Ok(Run(move || Ok(vec![running.run()?.as_nanos() as f64 / f64::from(load.tasks)])))
        });
    }
    group
}

/// Adds our implementations that are like `test`.
fn add_ours(group: &mut Group, test: ShedTest, load: ShedLoad) {
    match (test.padded, test.yields, test.batch) {
        _ if test == G => {
            group.add(OURS, move || Workers::<Sharded, BATCH>::open(test.channels, load))
        }
        _ if test == F => add::<Sharded, BATCH, BATCH>(group, OURS, test, load),
        (false, false, 1) => {
            add::<Packed, 1, 1>(group, OURS, test, load);
            add::<Packed, 1, 1>(group, FIFO, test, load);
        }
        (true, false, 1) => {
            add::<Padded, 1, 1>(group, OURS, test, load);
            add::<Padded, 1, 1>(group, FIFO, test, load);
        }
        (true, true, 1) => {
            add::<Central, 1, 1>(group, OURS, test, load);
            add::<Central, 1, 1>(group, FIFO, test, load);
        }
        _ => {
            add::<Central, BATCH, 1>(group, OURS, test, load);
            add::<Central, BATCH, BATCH>(group, BATCHES, test, load);
            add::<Central, BATCH, 1>(group, FIFO, test, load);
        }
    }
}

fn add<L: Layout, const BATCH: usize, const TAKEN: usize>(
    group: &mut Group,
    implementation: &'static str,
    test: ShedTest,
    load: ShedLoad,
) {
    let fifo = implementation == FIFO;
    group.add(implementation, move || Load::<L, BATCH, TAKEN>::open(test.channels, load, fifo));
}

/// Returns how much there is to do under `plan`.
fn load(plan: &Plan, producers: u32, consumers: u32) -> ShedLoad {
    let fit = plan.budget.as_nanos() / (EXPECTED * RUNS).as_nanos();
    let fit = u32::try_from(fit).unwrap_or(u32::MAX).clamp(TASKS.1, TASKS.0);
    let full = if plan.short { TASKS.1 / 8 } else { fit };
    // There is room for fewer tasks than all, so that producers have to wait in a smoke run too.
    let (capacity, tasks) = plan.size((CAPACITY, full), (100, 1_000));
    ShedLoad { producers, consumers, capacity, tasks }
}

fn figure(test: &ShedTest, producers: u32, consumers: u32) -> Figure {
    let ShedTest { name, channels, padded, yields, batch } = *test;
    let threads = |n: u32, what: &str| format!("{n} {what}{}", plural(n as usize));
    let (producers_named, consumers_named) =
        (threads(producers, "producer"), threads(consumers, "consumer"));
    let padded = if padded { ", padded" } else { "" };
    let yields = if yields { ", a pause after a failed exchange" } else { "" };
    let more = match test.name {
        "F" => ", heads striped over threads",
        "G" => ", heads striped over threads, consumers that sleep",
        _ => "",
    };
    Figure {
        case: name.to_owned(),
        config: format!("p{producers}c{consumers}"),
        name: format!("time per task in test {name}/{producers_named}, {consumers_named}"),
        unit: "ns",
        trend: Trend::Lower,
        description: format!(
            "tasks that add 1 to one counter, from {producers_named} to {consumers_named}, {} in \
             batches of {batch}{padded}{yields}{more}: wall time per task",
            threads(channels, "channel")
        ),
    }
}

/// One thread that does everything.
pub(super) fn single(plan: &Plan) -> Group {
    let figure = Figure {
        case: "single".to_owned(),
        config: "t1".to_owned(),
        name: "time per task of a thread alone/1 thread".to_owned(),
        unit: "ns",
        trend: Trend::Lower,
        description: "a thread creates a task, makes it ready and executes it, again and again: \
                      time per task"
            .to_owned(),
    };
    let mut group = Group::new(1, vec![figure]);
    group.in_tour = false;
    let tasks = plan.size(1_000_000, 1000);
    group.add(OURS, move || Single::open(tasks));
    group
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
        assert_eq!(tasks(Duration::from_secs(1)), 8_388_608);
        assert_eq!(tasks(Duration::from_secs(6)), 20_000_000);
        assert_eq!(tasks(Duration::from_secs(20)), 33_554_431);
        assert_eq!(tasks(Duration::MAX), 33_554_431);
    }
}
