//! Forks of ten, and spawned tasks in their library's default form: the time of one task.

use super::{group, judge, tasks};
use crate::adapter::{ForkJoin, Form, Tasks};
use crate::error::Error;
use crate::experiment::{Group, Plan, Session};
use crate::registry::for_each;
use std::hint::black_box;
use std::time::Instant;

pub(super) fn groups(plan: &Plan, leaves: u64) -> Vec<Group> {
    let mut groups = Vec::new();
    for workers in plan.workers_or(&[1, 2]) {
        let mut group = group("fork", workers, "task", "1,000,000", "forks of ten");
        for_each!(L in fork_joins(plan.peers) => add_forks::<L>(&mut group, workers, leaves));
        groups.push(group);
    }
    for workers in plan.workers_or(&[1, 2]) {
        let mut group = group("spawn", workers, "task", "1,000,000", "each with a join handle");
        for_each!(T in tasks(plan.peers) => add_spawns::<T>(&mut group, workers, leaves));
        groups.push(group);
    }
    groups
}

fn add_forks<L: ForkJoin>(group: &mut Group, workers: usize, leaves: u64) {
    group.add(L::NAME, move || Ok(Forks::<L> { pool: L::build(workers)?, leaves }));
    group.keep_apart(L::LINGERS);
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

/// Returns the sum of the ordinals of `leaves` leaves from `first`.
fn tree<L: ForkJoin>(ctx: &mut L::Ctx<'_>, first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let tenth = leaves / 10;
    L::ten(ctx, |c, i| tree::<L>(c, first + i * tenth, tenth))
}

fn add_spawns<T: Tasks>(group: &mut Group, workers: usize, leaves: u64) {
    let forms = [Form::Join, Form::Async];
    if let Some(form) = forms.into_iter().find(|form| T::FORMS.contains(form)) {
        group.add(T::NAME, move || Ok(Spawns::<T> { pool: T::build(workers)?, form, leaves }));
        group.keep_apart(T::LINGERS);
        group.set_environment(T::environment(leaves));
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
