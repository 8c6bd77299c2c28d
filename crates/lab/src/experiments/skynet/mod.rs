//! Skynet: a root starts ten tasks, each of which starts ten, until there are as many leaves as
//! wanted.
//!
//! Three experiments of one kind: a million leaves; a hundred thousand, as published; ten thousand,
//! where each node is a system thread.

mod forks;
mod forms;
mod threads;

use crate::error::{Error, expect};
use crate::experiment::{Experiment, Figure, Group, Plan, Trend};
use crate::host::plural;
use std::time::Duration;

/// The experiment `skynet`.
pub(crate) struct Skynet;

impl Experiment for Skynet {
    fn name(&self) -> &'static str {
        "skynet"
    }

    fn about(&self) -> &'static str {
        "A million tiny tasks in a tree: each has ten children, and the sums flow up. The tasks \
         are forks, or spawned tasks with a handle each (time per task). Then each form of waiting \
         for them is measured under each policy (time per leaf). In the suspended form every leaf \
         yields once and becomes a fiber with a stack. In the fiber libraries that are measured \
         too, every task is that from the start."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let leaves = plan.size(1_000_000, 100);
        let mut groups = forks::groups(plan, leaves);
        groups.extend(forms::groups(plan, leaves, "1,000,000"));
        // The tour shows these forms with fewer leaves.
        for group in &mut groups {
            let case = &group.figures[0].case;
            group.in_tour = ["fork", "spawn", "join"].contains(&case.as_str());
        }
        groups
    }
}

/// The experiment `skynet100k`.
pub(crate) struct Skynet100k;

impl Experiment for Skynet100k {
    fn name(&self) -> &'static str {
        "skynet100k"
    }

    fn about(&self) -> &'static str {
        "The same with 100,000 leaves, as in the published tables. All fibers there have stacks, \
         so compare them with the suspended form."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        forms::groups(plan, plan.size(100_000, 100), "100,000")
    }
}

/// The experiment `skynet10k`.
pub(crate) struct Skynet10k;

impl Experiment for Skynet10k {
    fn name(&self) -> &'static str {
        "skynet10k"
    }

    fn about(&self) -> &'static str {
        "The same with 10,000 leaves and a system thread for each node. This shows why there are \
         fibers."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        vec![threads::group(plan)]
    }
}

/// Returns a group of one figure, the time per `by` (task or leaf).
fn group(case: &str, workers: usize, by: &str, leaves: &str, what: &str) -> Group {
    let figure = Figure {
        case: case.to_owned(),
        config: format!("w{workers}"),
        name: format!("time per {by} by {case}/{workers} worker{}", plural(workers)),
        unit: "ns",
        trend: Trend::Lower,
        description: format!("skynet of {leaves} leaves, {what}: time per {by}"),
    };
    Group::new(workers, vec![figure])
}

/// Checks the sum. Returns the nanoseconds for each of `count`.
fn judge(leaves: u64, elapsed: Duration, sum: u64, count: u64) -> Result<Vec<f64>, Error> {
    expect("the sum of the leaves", sum, answer(leaves))?;
    Ok(vec![elapsed.as_nanos() as f64 / count as f64])
}

/// Returns the sum of the ordinals below `leaves`.
fn answer(leaves: u64) -> u64 {
    leaves * (leaves - 1) / 2
}

/// Returns the number of leaves and inner nodes.
fn tasks(leaves: u64) -> u64 {
    std::iter::successors(Some(leaves), |n| (*n > 1).then_some(n / 10)).sum()
}
