//! What a blocked task costs, and how fast many of them are resumed.

mod behind;
mod block_cost;
mod crowds;
mod sleepers;

use crate::experiment::{Experiment, Figure, Group, Plan, Trend};
use crate::host::plural;

/// The experiment `fiber`.
pub(crate) struct Fiber;

impl Experiment for Fiber {
    fn name(&self) -> &'static str {
        "fiber"
    }

    fn about(&self) -> &'static str {
        "Tasks that block: the cost of the first time, a million of them at once and the memory of \
         each, how late sleepers wake, and how evenly the tasks of one worker spread. Last, the \
         price of staying on one worker: a ready fiber waits for the task that computes there."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = vec![block_cost::group(plan)];
        for workers in plan.workers_or(&[2]) {
            groups.push(crowds::million(plan, workers));
            groups.push(sleepers::group(plan, workers));
            groups.push(crowds::skew(plan, workers));
            groups.push(behind::group(plan, workers));
        }
        groups
    }
}

fn figure(
    case: &str,
    workers: usize,
    name: &str,
    unit: &'static str,
    trend: Trend,
    description: &str,
) -> Figure {
    Figure {
        case: case.to_owned(),
        config: format!("w{workers}"),
        name: format!("{name}/{workers} worker{}", plural(workers)),
        unit,
        trend,
        description: description.to_owned(),
    }
}
