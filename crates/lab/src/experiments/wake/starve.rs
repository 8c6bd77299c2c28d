//! Jobs that a worker queues before it computes for long without polling.

use super::{Starts, figure};
use crate::adapter::{ForkJoin, Submit};
use crate::error::Error;
use crate::experiment::{Group, Plan, Session};
use crate::registry::for_each;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Jobs queued before the computation.
const JOBS: u32 = 64;

/// Queues them by submitting independent jobs, and by nested joins whose innermost branch computes.
pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let busy = plan.size(Duration::from_millis(100), Duration::from_millis(5));
    let new = |case: &str, what: &str| {
        let name = format!("time until {what} have started elsewhere");
        let description =
            format!("{what}, and then their worker computes for 100 ms without polling");
        let mut group = Group::new(2, vec![figure(case, 2, &name, &description)]);
        group.warmups = 0;
        group
    };
    let mut queued = new("starve", "64 queued jobs");
    for_each!(P in submits(plan.peers) => add_queued::<P>(&mut queued, busy));
    let mut forked = new("starve-fork", "64 forked jobs");
    for_each!(L in fork_joins(plan.peers) => add_forked::<L>(&mut forked, busy));
    vec![queued, forked]
}

/// Computes for `span`, without a call to the runtime.
fn compute(span: Duration) {
    let start = Instant::now();
    while start.elapsed() < span {
        std::hint::spin_loop();
    }
}

fn add_queued<P: Submit>(group: &mut Group, busy: Duration) {
    if P::ELSEWHERE {
        group.add(P::NAME, move || Ok(Queued::<P> { pool: P::build(2)?, busy }));
        group.keep_apart(P::LINGERS);
    }
}

struct Queued<P: Submit> {
    pool: P::Pool,
    busy: Duration,
}

impl<P: Submit> Session for Queued<P> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let busy = self.busy;
        let observer = std::thread::current();
        let (send, receive) = std::sync::mpsc::channel();
        P::submit(&self.pool, move || {
            let starts = Starts::observed_by(JOBS, observer);
            // The receiver waits for this and for nothing else.
            let _ = send.send(Arc::clone(&starts));
            for _ in 0..JOBS {
                let starts = Arc::clone(&starts);
                P::submit_inside(move || starts.count());
            }
            compute(busy);
        });
        let starts =
            receive.recv().map_err(|_| Error::Wrong("the worker's task is lost".into()))?;
        let latest = starts.wait();
        // Waits, so that the next run begins with a worker that is done computing.
        let rest = self.busy.saturating_sub(starts.from.elapsed());
        std::thread::sleep(rest + super::REST);
        Ok(vec![latest])
    }
}

fn add_forked<L: ForkJoin>(group: &mut Group, busy: Duration) {
    // A library that shares work only when its owner polls shares nothing here.
    if L::RENDEZVOUS {
        group.add(L::NAME, move || Ok(Forked::<L> { pool: L::build(2)?, busy }));
        group.keep_apart(L::LINGERS);
    }
}

struct Forked<L: ForkJoin> {
    pool: L::Pool,
    busy: Duration,
}

impl<L: ForkJoin> Session for Forked<L> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let busy = self.busy;
        let starts = L::enter(&self.pool, |ctx| {
            let starts = Starts::expecting(JOBS);
            nest::<L>(ctx, JOBS, &starts, busy);
            starts
        });
        Ok(vec![starts.wait()])
    }
}

/// Makes `depth` joins within one another, each with a job as its second branch.
fn nest<L: ForkJoin>(ctx: &mut L::Ctx<'_>, depth: u32, starts: &Starts, busy: Duration) {
    if depth == 0 {
        compute(busy);
        return;
    }
    L::join(ctx, |c| nest::<L>(c, depth - 1, starts, busy), |_| starts.count());
}
