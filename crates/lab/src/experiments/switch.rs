//! Two tasks that take turns.

use crate::adapter::{Job, Turns, Way};
use crate::error::{Error, expect};
use crate::experiment::{Experiment, Figure, Group, Plan, Session, Trend};
use crate::host::plural;
use crate::peers;
use crate::registry::for_each;
use std::time::Instant;

/// The experiment `switch`.
pub(crate) struct Switch;

impl Experiment for Switch {
    fn name(&self) -> &'static str {
        "switch"
    }

    fn about(&self) -> &'static str {
        "Two fibers take turns: the cost of a yield, and of handing a turn over by a mutex, a \
         condition variable or an event, on one worker and on two."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = vec![group(plan, Way::Yield, 1)];
        for way in [Way::Mutex, Way::Condvar, Way::Event] {
            groups.extend(plan.workers_or(&[1, 2]).into_iter().map(|w| group(plan, way, w)));
        }
        groups.retain(|g| !g.subjects.is_empty());
        groups
    }
}

fn group(plan: &Plan, way: Way, workers: usize) -> Group {
    let (case, name, description) = match way {
        Way::Yield => ("yield", "time per switch", "two tasks yield to each other: time per yield"),
        Way::Mutex => (
            "pingpong-mutex",
            "time per hop by mutexes",
            "each of two tasks holds one of three mutexes and takes the next: time per mutex taken",
        ),
        Way::Condvar => (
            "pingpong-condvar",
            "time per hop by a condition variable",
            "two tasks change a word in turns and notify each other: time per change",
        ),
        Way::Event => (
            "pingpong-event",
            "time per hop by events",
            "two tasks in turns set each other's event, or what serves as one: time per signal",
        ),
    };
    let figure = Figure {
        case: case.to_owned(),
        config: format!("w{workers}"),
        name: format!("{name}/{workers} worker{}", plural(workers)),
        unit: "ns",
        trend: Trend::Lower,
        description: description.to_owned(),
    };
    // Whatever the number of workers, only two tasks run.
    let mut group = Group::new(workers.min(2), vec![figure]);
    let hops = plan.size(if plan.short { 10_000 } else { 100_000 }, 100);
    for_each!(T in turns(plan.peers) => add::<T>(&mut group, way, workers, hops));
    if plan.peers.all() {
        let values = |ns: &[f64], job: &Job| vec![ns[0] / job.size as f64];
        let job = Job { case: "", workers, size: hops, check: hops, values };
        peers::add_programs(&mut group, &[case], job);
    }
    group
}

fn add<T: Turns>(group: &mut Group, way: Way, workers: usize, hops: u64) {
    if T::WAYS.contains(&way) && T::WORKERS.contains(&workers) {
        group.add(T::NAME, move || Ok(Hopping::<T> { pool: T::build(workers)?, way, hops }));
        group.keep_apart(T::LINGERS);
    }
}

struct Hopping<T: Turns> {
    pool: T::Pool,
    way: Way,
    hops: u64,
}

impl<T: Turns> Session for Hopping<T> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let start = Instant::now();
        let done = T::hop(&self.pool, self.way, self.hops);
        let elapsed = start.elapsed();
        expect("the number of hops", done, self.hops)?;
        Ok(vec![elapsed.as_nanos() as f64 / self.hops as f64])
    }
}
