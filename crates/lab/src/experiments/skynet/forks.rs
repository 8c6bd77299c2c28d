//! Forks of ten, and spawned tasks in their library's default form: the time of one task.

use super::{group, judge, tasks};
use crate::adapter::{
    ForkJoin, ForkJoinVisitor, Form, Tasks, TasksVisitor, visit_fork_joins, visit_tasks,
};
use crate::error::Error;
use crate::experiment::{Group, Plan, Session};
use std::hint::black_box;
use std::time::Instant;

pub(super) fn groups(plan: &Plan, leaves: u64) -> Vec<Group> {
    let mut groups = Vec::new();
    for workers in plan.workers_or(&[1, 2]) {
        let mut group = group("fork", workers, "task", "1,000,000", "forks of ten");
        visit_fork_joins(plan.peers, &mut AddForks { group: &mut group, workers, leaves });
        groups.push(group);
    }
    for workers in plan.workers_or(&[1, 2]) {
        let mut group = group("spawn", workers, "task", "1,000,000", "a join handle each");
        visit_tasks(plan.peers, &mut AddSpawns { group: &mut group, workers, leaves });
        groups.push(group);
    }
    groups
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
        judge(leaves, elapsed, sum, tasks(leaves))
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
        let Some(form) = [Form::Join, Form::Async].into_iter().find(|f| T::FORMS.contains(f))
        else {
            return;
        };
        let open = move || Ok(Spawns::<T> { pool: T::build(workers)?, form, leaves });
        self.group.add(T::NAME, open);
        self.group.keep_apart(T::LINGERS);
        self.group.set_environment(T::environment(leaves));
    }
}

struct Spawns<T: Tasks> {
    pool: T::Pool,
    form: Form,
    leaves: u64,
}

impl<T: Tasks> Session for Spawns<T> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let start = Instant::now();
        let sum = T::skynet(&self.pool, self.form, self.leaves);
        judge(self.leaves, start.elapsed(), sum, tasks(self.leaves))
    }
}
