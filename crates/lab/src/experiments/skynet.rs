//! Skynet: a root that starts ten, each of which starts ten, until there are a million leaves.

use crate::adapter::{
    ForkJoin, ForkJoinVisitor, Tasks, TasksVisitor, visit_fork_joins, visit_tasks,
};
use crate::error::{Error, expect};
use crate::experiment::{Experiment, Figure, Group, Plan, Session, Trend};
use crate::host::plural;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The experiment `skynet`.
pub(crate) struct Skynet;

impl Experiment for Skynet {
    fn name(&self) -> &'static str {
        "skynet"
    }

    fn about(&self) -> &'static str {
        "A million tiny tasks in a tree of tens whose sums flow up: as forks, and as spawned tasks \
         with a handle each."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let leaves = plan.size(1_000_000, 100);
        let new = |case: &str, workers: usize, what: &str| {
            let figure = Figure {
                case: case.to_owned(),
                config: format!("w{workers}"),
                name: format!("time per task by {case}/{workers} worker{}", plural(workers)),
                unit: "ns",
                trend: Trend::Lower,
                description: format!("skynet of 1,000,000 leaves, {what}: time by its tasks"),
            };
            Group::new(workers, vec![figure])
        };
        let mut groups = Vec::new();
        for workers in plan.workers_or(&[1, 2]) {
            let mut group = new("fork", workers, "forks of ten");
            visit_fork_joins(plan.peers, &mut AddForks { group: &mut group, workers, leaves });
            groups.push(group);
        }
        for workers in plan.workers_or(&[1, 2]) {
            let mut group = new("spawn", workers, "a join handle each");
            visit_tasks(plan.peers, &mut AddSpawns { group: &mut group, workers, leaves });
            groups.push(group);
        }
        groups
    }
}

/// Checks the sum; nanoseconds for one of the tasks (leaves and inner nodes).
fn judge(leaves: u64, elapsed: Duration, sum: u64) -> Result<Vec<f64>, Error> {
    expect("the sum of the leaves", sum, leaves * (leaves - 1) / 2)?;
    let tasks: u64 = std::iter::successors(Some(leaves), |n| (*n > 1).then_some(n / 10)).sum();
    Ok(vec![elapsed.as_nanos() as f64 / tasks as f64])
}

struct AddForks<'a> {
    group: &'a mut Group,
    workers: usize,
    leaves: u64,
}

impl ForkJoinVisitor for AddForks<'_> {
    fn visit<L: ForkJoin>(&mut self) {
        let (workers, leaves) = (self.workers, self.leaves);
        self.group.add(L::NAME, move || Ok(Forks::<L> { pool: L::build(workers)?, leaves }));
        self.group.keep_apart(L::LINGERS);
    }
}

struct Forks<L: ForkJoin> {
    pool: L::Pool,
    leaves: u64,
}

impl<L: ForkJoin> Session for Forks<L> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let leaves = black_box(self.leaves);
        let (elapsed, sum) = L::enter(&self.pool, |ctx| {
            let start = Instant::now();
            let sum = tree::<L>(ctx, 0, leaves);
            (start.elapsed(), sum)
        });
        judge(leaves, elapsed, sum)
    }
}

/// The sum of the ordinals of `leaves` leaves from `first`.
fn tree<L: ForkJoin>(ctx: &mut L::Ctx<'_>, first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let tenth = leaves / 10;
    L::ten(ctx, |c, i| tree::<L>(c, first + i * tenth, tenth))
}

struct AddSpawns<'a> {
    group: &'a mut Group,
    workers: usize,
    leaves: u64,
}

impl TasksVisitor for AddSpawns<'_> {
    fn visit<T: Tasks>(&mut self) {
        let (workers, leaves) = (self.workers, self.leaves);
        self.group.add(T::NAME, move || Ok(Spawns::<T> { pool: T::build(workers)?, leaves }));
    }
}

struct Spawns<T: Tasks> {
    pool: T::Pool,
    leaves: u64,
}

impl<T: Tasks> Session for Spawns<T> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let start = Instant::now();
        let sum = T::skynet(&self.pool, self.leaves);
        judge(self.leaves, start.elapsed(), sum)
    }
}
