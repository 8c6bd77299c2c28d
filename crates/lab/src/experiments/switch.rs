//! Two tasks that hand a turn to and fro.

use crate::adapter::{Job, Turns, TurnsVisitor, Way, visit_turns};
use crate::error::{Error, expect};
use crate::experiment::{Experiment, Figure, Group, Plan, Session, Trend};
use crate::host::plural;
use crate::peers;
use std::time::Instant;

/// The experiment `switch`.
pub(crate) struct Switch;

impl Experiment for Switch {
    fn name(&self) -> &'static str {
        "switch"
    }

    fn about(&self) -> &'static str {
        "Two fibers take turns: what it costs to give way, and to hand a turn over by a mutex, a \
         condition variable or an event, on one worker and where there are two."
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
        Way::Yield => (
            "yield",
            "time per switch",
            "two tasks give way to each other: time by how often one of them did",
        ),
        Way::Mutex => (
            "pingpong-mutex",
            "time per hop by mutexes",
            "each of two tasks holds one of three mutexes and takes the next: time by mutexes taken",
        ),
        Way::Condvar => (
            "pingpong-condvar",
            "time per hop by a condition variable",
            "two tasks change a word in turns and notify each other: time by changes",
        ),
        Way::Event => (
            "pingpong-event",
            "time per hop by events",
            "two tasks set each other's event in turns, or what signals there: time by signals",
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
    // However many workers there are, only two tasks run.
    let mut group = Group::new(workers.min(2), vec![figure]);
    let hops = plan.size(100_000, 100);
    visit_turns(plan.peers, &mut AddAll { group: &mut group, way, workers, hops });
    if plan.peers {
        let values = |ns: &[f64], job: &Job| vec![ns[0] / job.size as f64];
        let job = Job { case: "", workers, size: hops, check: hops, values };
        peers::add_programs(&mut group, &[case], job);
    }
    group
}

struct AddAll<'a> {
    group: &'a mut Group,
    way: Way,
    workers: usize,
    hops: u64,
}

impl TurnsVisitor for AddAll<'_> {
    fn visit<T: Turns>(&mut self) {
        if !T::WAYS.contains(&self.way) || !T::WORKERS.contains(&self.workers) {
            return;
        }
        let (way, workers, hops) = (self.way, self.workers, self.hops);
        self.group.add(T::NAME, move || Ok(Hopping::<T> { pool: T::build(workers)?, way, hops }));
        self.group.keep_apart(T::LINGERS);
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
