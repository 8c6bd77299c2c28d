//! Memory pools: strategies for finding a free block, in several contexts.
//!
//! The loops are those of *MultiCore benchmarks: memory allocation* (2012): blocks of 12 bytes, a
//! million operations for each thread, 8 threads, pools that are fresh or polluted. The other
//! contexts are those that its author names and did not measure.

mod asked;
mod bench;
mod context;
mod handoff;
mod load;
mod order;
#[cfg(test)]
mod tests;

use crate::adapter::{BLOCK, Pool};
use crate::experiment::{Experiment, Figure, Group, Plan, Trend};
use crate::host::plural;
use crate::registry::for_each;
use crate::report::Screen;
use crate::store::Record;
pub(crate) use asked::Asked;
use bench::{Alone, Bench, Case, Counted, Timed};
use context::Context;
use handoff::{Handoff, Nothing};
pub(crate) use load::Shape;
use std::time::Duration;

/// Time after which a run may stop. It is long enough for the figure, and slow cases are very slow.
const LIMIT: Duration = Duration::from_millis(250);

/// The experiment `pool`.
pub(crate) struct Pools;

impl Experiment for Pools {
    fn name(&self) -> &'static str {
        "pool"
    }

    fn about(&self) -> &'static str {
        "Blocks of 12 bytes from pools that search in different ways. Threads give each block back \
         at once, or take all blocks first, in fresh and in used pools. Last, one thread takes \
         blocks and another gives them back."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = Vec::new();
        let threads = plan.workers_or(&[1, 2, 8]);
        let cases = |threads: &[usize]| -> Vec<Case> {
            let of = |shape, context| {
                threads.iter().map(move |&threads| case(plan, shape, context, threads))
            };
            let shapes = [Shape::Short, Shape::Long, Shape::Fifo];
            let contexts = |shape| Context::ALL.into_iter().map(move |context| (shape, context));
            shapes.into_iter().flat_map(contexts).flat_map(|(s, c)| of(s, c)).collect()
        };
        groups.extend(cases(&threads).into_iter().map(|case| timed(plan, case)));
        groups.extend(Context::ALL.map(|c| alone(plan, case(plan, Shape::Long, c, 1))));
        groups.push(handoff(plan));
        groups.extend(cases(&threads).into_iter().map(counted));
        groups.retain(|group| !group.subjects.is_empty());
        groups
    }

    fn verdict(&self, records: &[Record], screen: &Screen) -> Option<String> {
        Some(screen.wrapped(&order::verdict(records)?, 2))
    }
}

fn case(plan: &Plan, shape: Shape, context: Context, threads: usize) -> Case {
    // 48 MiB of blocks are more than the usual caches hold.
    let (pairs, least) = plan.size((1_000_000, 1 << 22), (300, 1 << 14));
    let limit = if plan.short { LIMIT / 4 } else { LIMIT };
    Case { shape, context, threads, size: BLOCK.size(), pairs, least, limit }
}

impl Case {
    fn name(&self) -> String {
        format!("{}-{}", self.shape.name(), self.context.name())
    }

    fn words(&self) -> String {
        let limit = LIMIT.as_millis();
        let shape = match self.shape {
            Shape::Short => format!(
                "each thread takes a block and gives it back at once, a million times or for \
                 {limit} ms"
            ),
            Shape::Long => {
                "each thread takes a million blocks, then gives them back in this order".into()
            }
            Shape::Fifo => format!(
                "each thread takes a million blocks, or for {limit} ms, and gives back the oldest \
                 of a thousand for each"
            ),
        };
        format!("{shape}; {}", self.context.words())
    }

    fn figure(&self, case: String, what: &str, unit: &'static str, description: String) -> Figure {
        let (config, tail) = (format!("t{}", self.threads), threads(self.threads));
        let (name, trend) = (format!("{what}, {}/{tail}", case.replace('-', " ")), Trend::Lower);
        Figure { case, config, name, unit, trend, description }
    }
}

/// Returns `1 thread` or `2 threads`.
fn threads(n: usize) -> String {
    format!("{n} thread{}", plural(n))
}

/// Returns the group of `case` with all pools.
fn timed(plan: &Plan, case: Case) -> Group {
    let description = format!("{}: wall time divided by the pairs of all threads", case.words());
    let figure = case.figure(case.name(), "time per pair", "ns", description);
    let mut group = rules(plan, Group::new(case.threads, vec![figure]), &case);
    group.in_tour = match (case.shape, case.context) {
        (Shape::Short, Context::Fresh) => case.threads != 2,
        (Shape::Short, Context::Polluted) => case.threads == 8,
        _ => false,
    };
    for_each!((P, name) in pools(plan.peers) => add_timed::<P>(&mut group, name, case));
    if case.shape == Shape::Short && case.threads == 1 && plan.peers.all() {
        // A pool that one thread can have for itself.
        for_each!((P, name) in lone_pools(true) => {
            if name == "slab-unshared" {
                add_alone::<P>(&mut group, name, case);
            }
        });
    }
    group
}

/// Returns the group of `case` for a thread alone, without locks.
fn alone(plan: &Plan, case: Case) -> Group {
    let name = case.name().replacen('-', "-single-", 1);
    let words = case.words().replacen("each thread", "a thread alone, without locks,", 1);
    let figure = case.figure(name, "time per pair", "ns", format!("{words}: time per pair"));
    let mut group = rules(plan, Group::new(1, vec![figure]), &case);
    group.in_tour = false;
    for_each!((P, name) in lone_pools(plan.peers) => add_alone::<P>(&mut group, name, case));
    group
}

/// Sets how often the group runs. Each run rehearses, so nothing else warms up. Each turn takes all
/// blocks of a pool before, so configurations with short runs get many runs.
fn rules(plan: &Plan, mut group: Group, case: &Case) -> Group {
    group.warmups = 0;
    let most = match case.threads {
        _ if plan.short => 3,
        1 => 10,
        2 => 4,
        _ => 3,
    };
    (group.min_runs, group.max_runs) = (most.min(group.min_runs), Some(most));
    group
}

/// Returns the group of what runs of their own count in `case`.
fn counted(case: Case) -> Group {
    let figure = |suffix: &str, what: &str, unit, how: &str| {
        let description = format!("{}: {how}", case.words());
        case.figure(format!("{}-{suffix}", case.name()), what, unit, description)
    };
    let figures = vec![
        figure(
            "bookkeeping",
            "bookkeeping per block",
            "B",
            "bytes beside the blocks, divided by the capacity",
        ),
        figure("searched", "places searched", "of 1", "words searched per block taken"),
        figure(
            "retries",
            "retries",
            "of 1",
            "exchanges that another thread made fail, per block taken",
        ),
        figure(
            "span",
            "span",
            "of 1",
            "places from the first to the last block that the threads have when each has most, \
             divided by the number of these blocks",
        ),
    ];
    let mut group = Group::new(case.threads, figures);
    (group.warmups, group.min_runs, group.max_runs, group.in_tour) = (0, 1, Some(1), false);
    let case = Case { limit: case.limit / 4, ..case };
    for_each!((P, name) in counting_pools(false) => {
        group.add(name, move || Bench::<P>::open(case).map(Counted));
    });
    group
}

/// Returns the group of blocks that go from one thread to another.
fn handoff(plan: &Plan) -> Group {
    let figure = Figure {
        case: "handoff".to_owned(),
        config: "t2".to_owned(),
        name: "time per block handed over/2 threads".to_owned(),
        unit: "ns",
        trend: Trend::Lower,
        description: "a thread takes a million blocks, another gives them back; they go over in \
                      batches of 64 through a ring of 16: wall time per block"
            .to_owned(),
    };
    let mut group = Group::new(2, vec![figure]);
    (group.warmups, group.max_runs) = (0, Some(if plan.short { 3 } else { 20 }));
    let Case { pairs, least, .. } = case(plan, Shape::Short, Context::Fresh, 2);
    let (blocks, capacity) = (pairs.max(1024), least);
    // The transport without a pool.
    let size = BLOCK.size();
    group.add("transport-alone", move || Handoff::<Nothing>::open(capacity, size, blocks));
    for_each!((P, name) in pools(plan.peers) => {
        group.add(name, move || Handoff::<P>::open(capacity, size, blocks));
    });
    group
}

fn add_timed<P: Pool + Sync + 'static>(group: &mut Group, name: &'static str, case: Case) {
    group.add(name, move || Bench::<P>::open(case).map(Timed));
}

fn add_alone<P: Pool + 'static>(group: &mut Group, name: &'static str, case: Case) {
    group.add(name, move || Bench::<P>::open(case).map(Alone));
}
