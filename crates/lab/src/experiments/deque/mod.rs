//! Work-stealing deques: a scheduler's load, a distributor's load, and single-threaded pairs.
//!
//! The loops and formulas are those of the pull request that optimised Saturn's deque; the stages
//! of its method are our implementations. A figure that counts time is the sum of the threads' own
//! times over all operations. A rate is all operations over the mean of those times.

mod domain;
mod message;
mod pair;
mod spawn;

use crate::adapter::Deque;
use crate::crew::{Done, total_ns};
use crate::error::Error;
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend};
use crate::host::plural;
use crate::registry::for_each;

/// The experiment `deque`.
pub(crate) struct Deques;

impl Experiment for Deques {
    fn name(&self) -> &'static str {
        "deque"
    }

    fn about(&self) -> &'static str {
        "A worker's own queue: the gain of each step of the known method (padding of shared data, \
         caching of the thieves' index), and of letting the thieves pay for the fence."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = Vec::new();
        for workers in plan.workers_or(&[1, 2, 4, 8]) {
            groups.push(spawn::group(plan, workers));
        }
        for takers in [1, 2, 4] {
            groups.push(message::group(plan, takers));
        }
        groups.extend(domain::groups(plan));
        groups.extend(pair::groups(plan));
        groups
    }
}

/// One loop for any deque.
trait Open {
    fn run<D: Deque>(&self) -> Result<Vec<f64>, Error>;
}

/// Fills `group` with all deques running `open`, by the rules of the published figures: three
/// warm-ups, at least seven runs.
fn fill<O: Open + Copy + 'static>(plan: &Plan, mut group: Group, open: O) -> Group {
    group.warmups = 3;
    group.min_runs = 7;
    for_each!(D in deques(plan.peers) => {
        group.add(D::NAME, move || Ok(Run(move || open.run::<D>())));
    });
    group
}

/// A time and a rate from one run: the published pair of figures.
fn time_and_rate(noun: &str, case: &str, config: &str, threads: &str, what: &str) -> Vec<Figure> {
    let figure = |suffix: &str, name: String, unit, trend, description: String| Figure {
        case: format!("{case}-{suffix}"),
        config: config.to_owned(),
        name: format!("{name}/{threads}"),
        unit,
        trend,
        description,
    };
    vec![
        figure(
            "time",
            format!("time per {noun}"),
            "ns",
            Trend::Lower,
            format!("{what}: sum of the threads' times per {noun}"),
        ),
        figure(
            "rate",
            format!("{noun}s over time"),
            "M/s",
            Trend::Higher,
            format!("{what}: {noun}s per mean time of the threads"),
        ),
    ]
}

/// Returns the values for [`time_and_rate`].
fn values<T>(done: &[Done<T>], operations: u64) -> Vec<f64> {
    let (total, n) = (total_ns(done), operations as f64);
    vec![total / n, n * done.len() as f64 / total * 1e3]
}

/// Returns `1 worker` or `2 workers`.
fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", plural(n))
}
